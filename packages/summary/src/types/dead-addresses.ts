import { buildFinding, severityByShare, type FindingDraft } from '../finding.ts';
import { phraseOf } from '../phrases.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { redirectedHost } from '../redirected.ts';
import { thresholds } from '../thresholds.ts';
import { listed, naming, safeText, unique } from '../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Findings: addresses that accepted no connection, before another one of the name did. */
export function findDeadAddresses(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const hit = probeResults.filter((one) => deadOf(one).length > 0 && isConnected(one));
  const dead = unique(hit.flatMap((one) => deadOf(one).map(({ address }) => address)));
  const takersOf = (address: string): readonly HttpResult[] => {
    const ports = new Set(withDead(hit, [address]).map(({ result }) => portOf(result.url)));
    return probeResults.filter((one) => portsTaken(one, address).some((port) => ports.has(port)));
  };
  const [deadToAll, deadToSome] = [true, false].map((isToAll) =>
    dead.filter((address) => (takersOf(address).length === 0) === isToAll),
  ) as [string[], string[]];
  return [
    ...(deadToAll.length === 0 ? [] : [ofAll(hit, deadToAll, probeResults.filter(isConnected).length)]),
    ...deadToSome.map((address) => ofSome(hit, address, takersOf(address))),
  ];
}

function deadOf({ result }: HttpResult): NonNullable<SparseResultOf<'http'>['deadAddresses']> {
  return result.deadAddresses ?? [];
}

function isConnected({ result }: HttpResult): boolean {
  return result.timings?.connect !== undefined;
}

/** The ports of an address that took a connection of the probe: for its last request, or for one that was redirected. */
function portsTaken(probeResult: HttpResult, address: string): readonly string[] {
  const { redirects = [], url, resolvedIp } = probeResult.result;
  const last = isConnected(probeResult) && resolvedIp === address ? [portOf(url)] : [];
  return [...last, ...redirects.flatMap((redirect) => (redirect.resolvedIp === address ? portOf(redirect.url) : []))];
}

function portOf(text: string | undefined): string {
  const { port, protocol } = URL.parse(text ?? '') ?? { port: '', protocol: '' };
  return port === '' ? protocol : port;
}

/** @param connected number of probes that got a connection with any address */
function ofAll(hit: readonly HttpResult[], addresses: readonly string[], connected: number): FindingDraft {
  const own = withDead(hit, addresses);
  const networks = unique(own.map(({ facts }) => facts?.asNumber ?? ''));
  const isOfOne = own.length === 1;
  const isLocal = isOfOne || (networks.length === 1 && networks[0] !== '');
  const text =
    `Of the addresses of ${namesOf(own)} ${deadText(own, addresses)} took no connection from ${naming(own)}, and another one did. ` +
    (isLocal
      ? `${isOfOne ? 'One probe' : 'One network'} alone cannot tell whether the fault is on its way.`
      : 'Clients that are given it first wait or fail.');
  const brief = `an address of its name takes no connections${isLocal ? ` from ${naming(own)}` : ''}`;
  const isSeldom = isLocal && own.length < connected * thresholds.manyProbes;
  return buildFinding('address_dead', isSeldom ? 'info' : 'warning', own, text, brief);
}

/**
 * Finding: an address accepted no connection from some probes, but accepted those of others: the fault may be on the
 * path.
 */
function ofSome(hit: readonly HttpResult[], address: string, takers: readonly HttpResult[]): FindingDraft {
  const own = withDead(hit, [address]);
  const severity = severityByShare(own.length, own.length + takers.length);
  const text =
    `Of the addresses of ${namesOf(own)} ${deadText(own, [address])} took no connection from ${naming(own)}, and did from ` +
    `${naming(takers)}: the fault may be on the way. Another one took connections.`;
  const brief = `an address of its name takes no connections from ${naming(own)}`;
  return buildFinding('address_dead', severity, own, text, brief);
}

function withDead(hit: readonly HttpResult[], addresses: readonly string[]): readonly HttpResult[] {
  return hit.filter((one) => deadOf(one).some(({ address }) => addresses.includes(address)));
}

function deadText(own: readonly HttpResult[], addresses: readonly string[]): string {
  const dead = own.flatMap((one) => deadOf(one).filter(({ address }) => addresses.includes(address)));
  return listed(unique(dead.map(({ address, error }) => `${safeText(address)} (${phraseOf(error)})`)));
}

function namesOf(own: readonly HttpResult[]): string {
  return listed(unique(own.map(({ result }) => redirectedHost(result) ?? 'the name')));
}
