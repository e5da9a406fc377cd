import { isIP } from 'node:net';

import type { Admit } from '@vantage/contract';
import type { ProbeContext } from '@vantage/diagnostics';

/**
 * A minimal context of a diagnostic: it admits every address literal and no name, and has no raw sockets, resolvers
 * or PTR names. For loopback and for namespaces, which no packet leaves.
 *
 * @param overrides parts that a lab or benchmark replaces
 */
export function literalProbeContext(overrides: Partial<ProbeContext> = {}): ProbeContext {
  return {
    admit: admitLiteral,
    names: { reverse: async () => [], forward: async () => [] },
    resolvers: [],
    packets: { unavailable: 'There are no raw sockets here.' },
    showPrivateAddresses: true,
    isPrivateAddress: () => false,
    attribution: { userAgent: 'Vantage/0 (test)', payloadTag: 'vantage-test' },
    ...overrides,
  };
}

const admitLiteral: Admit = async ({ host }) => {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 4 || family === 6) {
    return { admitted: true, target: { host: address, address, family, addresses: [address], resolveMs: 0 } };
  }
  const message = `${host} is no address.`;
  const failure = { code: 'dns_nxdomain', phase: 'resolve', source: 'resolver', message } as const;
  return { admitted: false, failure, addresses: [], resolveMs: 0 };
};
