import { isIP } from 'node:net';

import type { Failure, ParamsOf } from '@vantage/contract';

import { timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext } from '../../diagnostic.ts';
import { usualPorts } from './answer-fields.ts';
import type { dns, DnsTransport } from './contract.ts';
import { parseResolver } from './resolver.ts';
import type { NameServer } from './transport/exchange.ts';

export type ChosenResolvers = { readonly servers: readonly NameServer[] } | { readonly failure: Failure };

/** Limit of the probe's resolvers that are queried in turn. */
const MAX_RESOLVERS = 3;

/** The client's resolver, once the policy has admitted it; otherwise the probe's own, which need no admission. */
export async function chooseResolvers(
  options: ParamsOf<typeof dns>['options'],
  context: DiagnosticContext<typeof dns>,
  signal: AbortSignal,
): Promise<ChosenResolvers> {
  const { resolver, transport } = options;
  return resolver === undefined ? own(transport, context) : admitted(resolver, transport, context, signal);
}

async function admitted(
  text: string,
  transport: DnsTransport,
  { admit }: DiagnosticContext<typeof dns>,
  signal: AbortSignal,
): Promise<ChosenResolvers> {
  const parsed = parseResolver(text);
  if (parsed === undefined) {
    const message = 'The resolver is neither a host name nor an address.';
    return { failure: { code: 'invalid_job', phase: 'dispatch', source: 'probe', message } };
  }
  const port = parsed.port ?? usualPorts[transport];
  try {
    const admission = await admit({ host: parsed.host, port, purpose: 'dns' }, signal);
    if (admission.admitted) return { servers: [{ target: admission.target, port }] };
    return { failure: resolverNameFailure(admission.failure, 'resolver') };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name of the resolver was not resolved in time.') };
  }
}

/**
 * Describes why a resolver or name server was not admitted, without naming the target, about which nothing was
 * measured.
 */
export function resolverNameFailure(failure: Failure, server: 'resolver' | 'name server'): Failure {
  if (failure.code === 'timed_out') return failure;
  if (failure.code === 'target_refused_by_policy') {
    return { ...failure, message: `The ${server} is refused: ${failure.message}` };
  }
  if (failure.code === 'family_unavailable') {
    return { ...failure, message: failure.message.replace('The target', `The ${server}`) };
  }
  const message = `The address of the ${server} could not be found: ${failure.message}`;
  return { ...failure, code: 'dns_resolver_unreachable', source: 'resolver', message };
}

function own(transport: DnsTransport, { resolvers }: DiagnosticContext<typeof dns>): ChosenResolvers {
  const servers = resolvers.slice(0, MAX_RESOLVERS).flatMap((text): NameServer[] => {
    // Only the probe's own resolvers may be link-local (RFC 4007 section 11).
    const zone = /%[^\s\]]+/.exec(text)?.[0] ?? '';
    const parsed = parseResolver(text.replace(zone, ''));
    if (parsed === undefined || isIP(parsed.host) === 0) return [];
    const address = `${parsed.host}${zone}`;
    const family = isIP(address) === 6 ? 6 : 4;
    // The operator's port applies to plain DNS; TLS and HTTPS use their default ports.
    const isPlain = transport === 'udp' || transport === 'tcp';
    const port = (isPlain ? parsed.port : undefined) ?? usualPorts[transport];
    return [{ target: { host: address, address, family, addresses: [address], resolveMs: 0 }, port }];
  });
  if (servers.length > 0) return { servers };
  const message = 'The probe has no resolver.';
  return { failure: { code: 'dns_resolver_unreachable', phase: 'resolve', source: 'probe', message } };
}
