import { get as getHttps } from 'node:https';
import { BlockList, isIP } from 'node:net';

import type { TrustedProxies } from '../../app.ts';
import { error, ok, warning, type DoctorFinding } from './finding.ts';

/**
 * An `import` of `node:http` reads all its exports, and the lazy ones load Node's fetch: CPU time at the start of each
 * command.
 */
const { get: getHttp } = process.getBuiltinModule('node:http');
const ANSWERS_MS = 10_000;
const CHECK = 'service.proxies';
/**
 * An address that belongs to no machine (RFC 5737). A service that takes it for the client's address trusts a forged
 * header.
 */
const FORGED = '203.0.113.9';

export interface ProxiesConfig {
  /** Public URL of the service. */
  readonly url: string;
  /** `TRUSTED_PROXIES` here, undefined if it is not set; coordinators elsewhere may have another value. */
  readonly trustedProxies: TrustedProxies | undefined;
  /** True if `PUBLIC_URL` is set here; otherwise a coordinator has stored it. */
  readonly isConfigured: boolean;
}

/** Two requests to `/me`, as the service and this machine see them. */
export interface Sighting {
  /** Client address that the service returned. */
  readonly seen: string;
  /** Client address that the service returned for a request with a forged `X-Forwarded-For`. */
  readonly seenForged: string;
  /** Addresses of the connection, at this machine and at its other end. */
  readonly local: string;
  readonly remote: string;
}

/** Checks that the service sees the addresses of its clients, by which rate limits count. */
export async function checkProxies(config: ProxiesConfig): Promise<readonly DoctorFinding[]> {
  const url = `${config.url.replace(/\/$/, '')}/me`;
  const plain = await askMe(url, {});
  const forged = await askMe(url, { 'x-forwarded-for': FORGED });
  const sighting = plain === undefined || forged === undefined ? undefined : { ...plain, seenForged: forged.seen };
  return proxiesFinding(config, sighting);
}

/** @param sighting undefined if `/me` did not answer both requests with an address */
export function proxiesFinding(config: ProxiesConfig, sighting: Sighting | undefined): readonly DoctorFinding[] {
  const { url, trustedProxies, isConfigured } = config;
  if (sighting !== undefined) {
    const { seen, seenForged, local, remote } = sighting;
    if (seenForged === FORGED) return forgeable(config, seen);
    const isProxySeen = seen !== local && (isLoopbackAddress(seen) || seen === remote);
    if (isProxySeen) return [shared(`${url} takes this machine, ${local}, for ${seen}, which is a proxy`)];
    const isKnown = seen !== local || !isLoopbackAddress(seen);
    if (isKnown || trustedProxies !== undefined || !url.startsWith('https:')) {
      return [ok(CHECK, `${url} sees this machine as ${seen}, also with a forged X-Forwarded-For.`)];
    }
  }
  if (!isConfigured || trustedProxies !== undefined || !url.startsWith('https:')) return [];
  return [shared('PUBLIC_URL is https, so a proxy is in front, and TRUSTED_PROXIES is not set here')];
}

function shared(reason: string): DoctorFinding {
  return warning(
    CHECK,
    `${reason}: all clients share one rate limit.`,
    'Set TRUSTED_PROXIES of the coordinators to the number or the addresses of the proxies.',
  );
}

/** The finding if the service accepted the forged header, which is correct if this machine is a trusted proxy. */
function forgeable({ url, trustedProxies }: ProxiesConfig, seen: string): readonly DoctorFinding[] {
  if (Array.isArray(trustedProxies) && includes(trustedProxies.filter(isNoWholeFamily), seen)) {
    return [ok(CHECK, `${url} sees this machine as ${seen}, one of TRUSTED_PROXIES.`)];
  }
  const set = trustedProxies === undefined ? 'TRUSTED_PROXIES' : `TRUSTED_PROXIES=${String(trustedProxies)}`;
  return [
    error(
      CHECK,
      `${url} takes this machine for any address that it writes into X-Forwarded-For: clients escape their rate limits.`,
      `${set} of the coordinators counts more proxies than there are: set it to the number or the addresses of the ` +
        `proxies in front, unset it without one. Ignore this if ${seen} is itself a proxy of the service.`,
    ),
  ];
}

/** False for a network of all addresses: it includes this machine even if this machine is no proxy. */
function isNoWholeFamily(network: string): boolean {
  return !/\/0+$/.test(network);
}

function includes(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIP(base) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(base, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

async function askMe(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Omit<Sighting, 'seenForged'> | undefined> {
  const { promise, resolve } = Promise.withResolvers<Omit<Sighting, 'seenForged'> | undefined>();
  const nothing = (): void => resolve(undefined);
  const get = url.startsWith('https:') ? getHttps : getHttp;
  const request = get(url, { headers, agent: false, signal: AbortSignal.timeout(ANSWERS_MS) }, (response) => {
    const { localAddress = '', remoteAddress = '' } = response.socket;
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => (text += part));
    response.on('error', nothing);
    response.on('end', () => {
      const seen = response.statusCode === 200 ? ipIn(text) : undefined;
      resolve(
        seen === undefined ? undefined : { seen, local: unmapped(localAddress), remote: unmapped(remoteAddress) },
      );
    });
  });
  request.on('error', nothing);
  return promise;
}

function ipIn(text: string): string | undefined {
  try {
    const { ip } = JSON.parse(text) as { readonly ip?: unknown };
    return typeof ip === 'string' && isIP(ip) > 0 ? ip : undefined;
  } catch {
    return undefined;
  }
}

function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}
