import { isIP } from 'node:net';

import { singleFamily, type Failure, type Family, type ParamsOf } from '@vantage/contract';

import { timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext } from '../../diagnostic.ts';
import { usualPorts } from './answer-fields.ts';
import type { dns } from './contract.ts';
import type { DnsTransport } from './resolver.ts';
import { parseResolver } from './resolver.ts';
import type { NameServer } from './transport/query.ts';

export type ChosenResolvers = { readonly servers: readonly NameServer[] } | { readonly failure: Failure };

/** Limit of the probe's resolvers that are queried in turn. */
const MAX_RESOLVERS = 3;

/** The client's resolver, if the policy admits it; without one, the probe's own, which need no admission. */
export async function chooseResolvers(
  options: ParamsOf<typeof dns>['options'],
  context: DiagnosticContext<typeof dns>,
  signal: AbortSignal,
): Promise<ChosenResolvers> {
  const { resolver, transport } = options;
  const family = singleFamily(options);
  return resolver === undefined
    ? own(transport, family, context)
    : admitted(resolver, { transport, family }, context, signal);
}

async function admitted(
  text: string,
  { transport, family }: { readonly transport: DnsTransport; readonly family: Family | undefined },
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
    const admission = await admit({ host: parsed.host, port, purpose: 'dns', family }, signal);
    if (admission.admitted) return { servers: [{ target: admission.target, port }] };
    return { failure: resolverNameFailure(admission.failure, 'resolver', family) };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name of the resolver was not resolved in time.') };
  }
}

/**
 * Describes why a resolver or name server was not admitted, without naming the target, about which nothing was
 * measured.
 */
export function resolverNameFailure(
  failure: Failure,
  server: 'resolver' | 'name server',
  family: Family | undefined,
): Failure {
  if (failure.code === 'dns_no_address' && family !== undefined) return noFamily(`The ${server}`, family);
  if (failure.code === 'timed_out' || failure.code === 'probe_busy') return failure;
  if (failure.code === 'target_refused_by_policy') {
    return { ...failure, message: `The ${server} is refused: ${failure.message}` };
  }
  if (failure.code === 'family_unavailable') {
    return { ...failure, message: failure.message.replace('The target', `The ${server}`) };
  }
  const message = `The address of the ${server} could not be found: ${failure.message}`;
  return { ...failure, code: 'dns_resolver_unreachable', source: 'resolver', message };
}

/** The failure for a server without an address of the requested family. */
function noFamily(server: string, family: Family): Failure {
  const message = `${server} has no IPv${family} address.`;
  return { code: 'family_unavailable', phase: 'resolve', source: 'resolver', message };
}

function own(
  transport: DnsTransport,
  family: Family | undefined,
  { resolvers }: DiagnosticContext<typeof dns>,
): ChosenResolvers {
  const all = resolvers.flatMap((text): NameServer[] => {
    // Only the probe's own resolvers may be link-local (RFC 4007 section 11).
    const zone = /%[^\s\]]+/.exec(text)?.[0] ?? '';
    const parsed = parseResolver(text.replace(zone, ''));
    if (parsed === undefined || isIP(parsed.host) === 0) return [];
    const address = `${parsed.host}${zone}`;
    const version = isIP(address) === 6 ? 6 : 4;
    // The operator's port applies to plain DNS; TLS and HTTPS use their default ports.
    const isPlain = transport === 'udp' || transport === 'tcp';
    const port = (isPlain ? parsed.port : undefined) ?? usualPorts[transport];
    return [{ target: { host: address, address, family: version, addresses: [address], resolveMs: 0 }, port }];
  });
  const servers = all.filter(({ target }) => family === undefined || target.family === family).slice(0, MAX_RESOLVERS);
  if (servers.length > 0) return { servers };
  if (all.length > 0) return { failure: noFamily('The resolver of the probe', family!) };
  const message = 'The probe has no resolver.';
  return { failure: { code: 'dns_resolver_unreachable', phase: 'resolve', source: 'probe', message } };
}
