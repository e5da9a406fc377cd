import { createTrustStore, type DiagnosticContext } from '@vantage/diagnostics';

import type { Config } from './config.ts';
import type { AgentParts } from './parts.ts';

/** What every run of every diagnostic is lent alike. */
export type Surroundings = Omit<DiagnosticContext, 'signal' | 'remainingMs' | 'emitPartial'>;

export function lend(config: Config, parts: AgentParts, version: string): () => Surroundings {
  const contact = config.contact === undefined ? '' : ` (+${config.contact})`;
  // Read once: it would cost each https check several times what the check itself does.
  const trust = createTrustStore(parts.certificateAuthorities);
  return () => ({
    admit: parts.admit,
    names: parts.names,
    resolvers: parts.resolvers,
    packets: parts.packets(),
    isPrivateAddress: parts.isPrivateAddress,
    certificateAuthorities: parts.certificateAuthorities,
    trust,
    showPrivateAddresses: config.showPrivateAddresses,
    attribution: { userAgent: `Vantage/${version}${contact}`, payloadTag: `vantage${contact}` },
  });
}
