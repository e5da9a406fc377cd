import { isUntrustedIssuer } from '@vantage/contract';
import { WebSocket } from 'ws';

import type { TrustedProxies } from '../../app.ts';
import { isLoopback, type AnnouncedUrl } from '../../probes/announced-url.ts';
import { certificateOf, checkValidity } from './check-certificates.ts';
import { checkProxies } from './check-proxies.ts';
import { error, ok, reasonOf, warning, type DoctorFinding } from './finding.ts';

const ANSWERS_MS = 10_000;
const UNTRUSTED = 'its certificate leads to no CA that this machine trusts, as agents and other clients may not either';
const TRUST_IT =
  'Set NODE_EXTRA_CA_CERTS to a PEM file with that CA for this command, and VANTAGE_CA_FILE for agents, or use a certificate of a public CA.';
/** Remaining days of validity below which there is a warning: fewer than the 30 at which many ACME clients renew. */
const WARN_DAYS = 14;
/** Several coordinators may be behind the address. */
const GATEWAY_ATTEMPTS = 4;

export interface PublicAddress {
  /** Public URL of the service. */
  readonly url: string;
  /** True if `PUBLIC_URL` is set here; otherwise a coordinator has stored it. */
  readonly isConfigured: boolean;
  readonly trustedProxies: TrustedProxies | undefined;
  readonly isGatewayOn: boolean;
  /** True if an agent connects, or is invited to connect, to a gateway. */
  readonly isGatewayUsed: boolean;
}

/** Examines the service at its public address, as clients and agents reach it from this machine. */
export async function checkService(address: PublicAddress): Promise<readonly DoctorFinding[]> {
  const { url } = address;
  const [health, certificate, proxies, gateway] = await Promise.all([
    checkHealth(url),
    checkCertificate(url),
    checkProxies(address),
    checkGateway(address),
  ]);
  return [health, ...certificate, ...checkTransport(url), ...proxies, ...(health.status === 'ok' ? gateway : [])];
}

/** Warns if running coordinators have different public addresses and at least one of these is set (`isSet`). */
export function checkUrls(announced: readonly AnnouncedUrl[]): readonly DoctorFinding[] {
  const urls = new Set(announced.map(({ url }) => url));
  if (urls.size < 2 || !announced.some(({ isSet }) => isSet)) return [];
  const names = announced.map(({ url, isSet }) => (isSet ? url : `${url} (PUBLIC_URL is not set, or is of loopback)`));
  return [
    warning(
      'service.urls',
      `Coordinators have different public addresses: ${names.toSorted().join(', ')}. Links, invitations and signatures of agents differ.`,
      'Set PUBLIC_URL of every coordinator to the address that agents and clients use; one that was changed or stopped counts for 150 seconds.',
    ),
  ];
}

async function checkHealth(url: string): Promise<DoctorFinding> {
  const remedy = 'Start a coordinator, or correct PUBLIC_URL, DNS, the reverse proxy or the firewall.';
  try {
    const response = await fetch(`${withoutSlash(url)}/healthz`, {
      signal: AbortSignal.timeout(ANSWERS_MS),
      redirect: 'manual',
    });
    const text = await response.text();
    if (response.status === 200 && text.includes('"status":"ok"')) return ok('service', `${url} answers.`);
    return error('service', `${url}/healthz answers ${response.status}, not as a coordinator does.`, remedy);
  } catch (fault) {
    const cause = Error.isError(fault) && fault.cause !== undefined ? fault.cause : fault;
    if (isUntrustedIssuer(cause)) return error('service', `${url} answers, but ${UNTRUSTED}.`, TRUST_IT);
    return error('service', `${url} cannot be reached from this machine: ${reasonOf(cause)}.`, remedy);
  }
}

async function checkCertificate(url: string): Promise<readonly DoctorFinding[]> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') return [];
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const validity = await certificateOf(host, port === '' ? 443 : Number(port));
  const remedy = 'Renew it where TLS ends, usually the reverse proxy.';
  return validity === undefined
    ? []
    : [checkValidity('service.certificate', `The certificate of ${url}`, validity, { warnDays: WARN_DAYS, remedy })];
}

function checkTransport(url: string): readonly DoctorFinding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return [];
  const message = `${url} is not encrypted: API keys and the results of agents can be read on the way.`;
  return [warning('service.transport', message, 'Put a proxy with TLS in front, and set PUBLIC_URL to https://….')];
}

/**
 * Examines whether agents can connect, which fails behind a proxy that forwards no WebSocket upgrades, and at each
 * coordinator with another `PUBLIC_URL`. Makes few attempts, because a gateway limits them.
 */
async function checkGateway({ url, isGatewayOn, isGatewayUsed }: PublicAddress): Promise<readonly DoctorFinding[]> {
  if (!isGatewayOn) return [];
  const address = `${withoutSlash(url).replace(/^http/, 'ws')}/agent`;
  const attempts = Array.from({ length: GATEWAY_ATTEMPTS }, () => gatewayFault(address, new URL(url).origin));
  const fault = (await Promise.all(attempts)).find((found) => found !== undefined);
  if (fault === undefined) return [ok('service.gateway', `Agents can connect to ${url} (WebSocket at /agent).`)];
  const message = `Agents cannot connect to ${url}: ${fault.reason}.`;
  const remedy = fault.isOrigin
    ? 'Set PUBLIC_URL of every coordinator to the address that agents and clients use.'
    : 'Let the reverse proxy pass WebSocket upgrades of /agent on (infra/docker/nginx.conf), and set GATEWAY=on.';
  return [isGatewayUsed ? error('service.gateway', message, remedy) : warning('service.gateway', message, remedy)];
}

interface GatewayFault {
  readonly reason: string;
  /** True if the coordinator has another public address. */
  readonly isOrigin: boolean;
}

/** @param origin the one that agents sign */
async function gatewayFault(url: string, origin: string): Promise<GatewayFault | undefined> {
  const { promise, resolve: settle } = Promise.withResolvers<GatewayFault | undefined>();
  const resolve = (reason: string, isOrigin = false): void => settle({ reason, isOrigin });
  const socket = new WebSocket(url, { handshakeTimeout: ANSWERS_MS, maxPayload: 65_536 });
  const timer = setTimeout(() => resolve('it sends no challenge'), ANSWERS_MS);
  socket.on('error', (fault) => resolve(reasonOf(fault)));
  socket.on('close', (code) => resolve(`it closes the connection (${code})`));
  socket.on('message', (data: Buffer) => {
    const challenge = challengeIn(data.toString());
    if (challenge === undefined) return resolve('it sends no challenge');
    // Challenges of release 0.1.0 have no `origin`.
    const { origin: expected = origin } = challenge;
    if (expected === origin) return settle(undefined);
    resolve(`a coordinator there has ${expected} as its PUBLIC_URL and refuses them (bad-signature)`, true);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.terminate();
  }
}

function challengeIn(text: string): { readonly origin?: string } | undefined {
  try {
    const { t, origin } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (t !== 'challenge') return undefined;
    return typeof origin === 'string' ? { origin } : {};
  } catch {
    return undefined;
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}
