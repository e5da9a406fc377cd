import { behindNat64, isOfNat64 } from './nat64.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { unique } from './words.ts';

type Http = SparseResultOf<'http'>;

interface Request {
  /** Host and port are undefined for other types than http. */
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly addresses: readonly string[];
}

type FamilyName = 'IPv4' | 'IPv6';

/** How a probe reaches a server: NAT64 leads from IPv6 to one that others reach over IPv4. */
type Reach = FamilyName | 'IPv4 through NAT64';

/** True if an http check followed redirects. */
export function isRedirected({ result }: ProbeResult): boolean {
  return ((result as Http).redirects ?? []).length > 0;
}

/** The host of the last request, whose answer is the result; undefined for other types than http. */
export function lastHost({ result }: ProbeResult): string | undefined {
  return hostOf((result as Http).url);
}

/**
 * The addresses to which the last request went, IPv4 first: those of both families if the check was for both, and for
 * http also those that took no connection. An address of NAT64 is replaced by the IPv4 address behind the translator.
 */
export function lastServers(probeResult: ProbeResult): readonly string[] {
  const addresses = measurementsIn(probeResult).flatMap((measured) => lastOf(measured).addresses);
  return serversOf(addresses).toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
}

/** `lastServers` for all requests, those that were redirected included. */
export function allServers(probeResult: ProbeResult): readonly string[] {
  return serversOf(requestsOf(probeResult).flatMap(({ addresses }) => addresses));
}

/** `lastServers` with ports, such as `203.0.113.1 at port 443`; without them for other types than http. */
export function lastEndpoints(probeResult: ProbeResult): readonly string[] {
  return measurementsIn(probeResult).flatMap((measured) => endpointsOf(lastOf(measured)));
}

/** `allServers` with ports. */
export function allEndpoints(probeResult: ProbeResult): readonly string[] {
  return requestsOf(probeResult).flatMap(endpointsOf);
}

function endpointsOf({ addresses, port }: Request): readonly string[] {
  return serversOf(addresses).map((address) => (port === undefined ? address : `${address} at port ${port}`));
}

/**
 * How the probe reached the servers of a host, or of all hosts if `host` is undefined. Undefined if it asked none, or
 * reached them in several ways.
 */
export function soleReachOf(probeResult: ProbeResult, host: string | undefined): Reach | undefined {
  const requests = requestsOf(probeResult).filter((request) => host === undefined || request.host === host);
  const ways = new Set(requests.flatMap(({ addresses }) => addresses.map(reachOf)));
  return ways.size === 1 ? [...ways][0] : undefined;
}

function reachOf(address: string): Reach {
  return isOfNat64(address) ? 'IPv4 through NAT64' : nameOf(address);
}

function serversOf(addresses: readonly string[]): readonly string[] {
  return unique(addresses.map((address) => behindNat64(address) ?? address));
}

/** The family of the measured address. */
export function resolvedFamily({ result: { resolvedIp } }: ProbeResult): FamilyName | undefined {
  return typeof resolvedIp === 'string' ? nameOf(resolvedIp) : undefined;
}

function nameOf(address: string): FamilyName {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

function requestsOf(probeResult: ProbeResult): readonly Request[] {
  return measurementsIn(probeResult).flatMap((measured) => [
    ...(measured.redirects ?? []).map(({ url, resolvedIp }) => ({
      host: hostOf(url),
      port: portOf(url),
      addresses: [resolvedIp],
    })),
    lastOf(measured),
  ]);
}

type Measured = Pick<Http, 'url' | 'resolvedIp' | 'redirects' | 'deadAddresses'>;

function lastOf({ url, resolvedIp, deadAddresses = [] }: Measured): Request {
  const measured = resolvedIp === null || resolvedIp === undefined ? [] : [resolvedIp];
  return {
    host: hostOf(url),
    port: portOf(url),
    addresses: [...measured, ...deadAddresses.map(({ address }) => address)],
  };
}

function measurementsIn({ result }: ProbeResult): readonly Measured[] {
  const { otherFamily } = result as Http;
  return [result, ...(otherFamily === undefined ? [] : [otherFamily])];
}

function hostOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? '')?.hostname;
}

function portOf(url: string | undefined): string | undefined {
  const { port, protocol } = URL.parse(url ?? '') ?? {};
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}
