import type { Socket } from 'node:net';

import type { Admission, Admit, Failure, ScreenshotLimit, Target } from '@vantage/contract';

import { connectFirst } from '../../sockets/connect-first.ts';

/** Limits for one screenshot. Requests beyond them are refused, and the page is captured as it is. */
export interface ProxyLimits extends Readonly<Record<ScreenshotLimit, number>> {
  /** Requests without TLS, and tunnels: the requests inside a tunnel cannot be counted. */
  readonly requests: number;
  /** Different pairs of host and port. */
  readonly hosts: number;
  /** Open at the same time. */
  readonly connections: number;
  /** Both directions, all connections together. */
  readonly bytes: number;
}

export const defaultProxyLimits: ProxyLimits = { requests: 500, hosts: 64, connections: 64, bytes: 64 * 1024 * 1024 };

export interface ProxyCounts {
  readonly requests: number;
  readonly hosts: number;
  readonly bytes: number;
  /** Requests that the policy or a limit refused. */
  readonly refused: number;
  /** Exceeded limits. */
  readonly exceeded: readonly ScreenshotLimit[];
}

const CONNECT_TIMEOUT_MS = 8_000;
/** A lost SYN is sent again after a second. */
const NEXT_AFTER_MS = 2_500;

/** Admits, connects and counts for one screenshot. */
export interface Ledger {
  /** Connects to an admitted, pinned address; null on failure, whose reason `failureFor` returns. */
  readonly connect: (host: string, port: number) => Promise<Socket | null>;
  /** @param upstream the connection that transferred them; closed if its network has exceeded its limit */
  readonly countBytes: (bytes: number, upstream: Socket) => void;
  readonly noteFailure: (host: string, port: number, failure: Failure) => void;
  readonly failureFor: (url: URL) => Failure | undefined;
  readonly counts: () => ProxyCounts;
  readonly endAll: () => void;
}

/** Counts bytes exchanged with an address; false if the limit of its network is exceeded. */
export type ChargeBytes = (address: string, bytes: number) => boolean;

export function ledger(
  admit: Admit,
  limits: ProxyLimits,
  signal: AbortSignal,
  charge: ChargeBytes = () => true,
): Ledger {
  // Cached for the whole screenshot: a name that later resolves to another address is not resolved again.
  const admissions = new Map<string, Promise<Admission>>();
  const failures = new Map<string, Failure>();
  const open = new Set<Socket>();
  /** The last responsive address by host, which is tried first. */
  const answering = new Map<string, string>();
  let [requests, connecting, bytes, refused] = [0, 0, 0, 0];

  const refuse = (key: string, failure: Failure): null => {
    refused += 1;
    failures.set(key, failure);
    return null;
  };
  const exceeded = new Set<ScreenshotLimit>();
  const overLimit = (key: string): ScreenshotLimit | undefined => {
    if (requests > limits.requests) return 'requests';
    if (bytes > limits.bytes) return 'bytes';
    if (open.size + connecting >= limits.connections) return 'connections';
    return !admissions.has(key) && admissions.size >= limits.hosts ? 'hosts' : undefined;
  };
  const admitOnce = (key: string, host: string, port: number): Promise<Admission> => {
    const known = admissions.get(key);
    if (known !== undefined) return known;
    const asked = admit({ purpose: 'http', host, port }, signal);
    admissions.set(key, asked);
    return asked;
  };
  const connect = async (host: string, port: number): Promise<Socket | null> => {
    const key = keyOf(host, port);
    requests += 1;
    const limit = overLimit(key);
    if (limit !== undefined) {
      exceeded.add(limit);
      return refuse(key, tooMuch(limit));
    }
    connecting += 1;
    try {
      const admission = await admitOnce(key, host, port);
      if (!admission.admitted) return refuse(key, admission.failure);
      const { target } = admission;
      const { connected, address } = await connectFirst(beginningWith(answering.get(target.host), target), port, {
        signal,
        boundMs: (isLast) => (isLast ? CONNECT_TIMEOUT_MS : NEXT_AFTER_MS),
      });
      if (connected.socket === null) {
        failures.set(key, connected.failure);
        return null;
      }
      const { socket } = connected;
      answering.set(target.host, address);
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      failures.delete(key);
      return socket;
    } catch {
      // The admission rejects when the signal is aborted, and then the result is not needed.
      return null;
    } finally {
      connecting -= 1;
    }
  };
  const endAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const countBytes = (more: number, upstream: Socket): void => {
    bytes += more;
    const isAllowed = upstream.remoteAddress === undefined || charge(upstream.remoteAddress, more);
    if (!isAllowed) upstream.destroy();
    if (!isAllowed || bytes > limits.bytes) exceeded.add('bytes');
    if (bytes > limits.bytes) endAll();
  };
  return {
    connect,
    countBytes,
    noteFailure: (host, port, failure) => void failures.set(keyOf(host, port), failure),
    failureFor: (url) => failures.get(keyOf(url.hostname, portOf(url))),
    counts: () => ({ requests, hosts: admissions.size, bytes, refused, exceeded: [...exceeded] }),
    endAll,
  };
}

function beginningWith(first: string | undefined, target: Target): Target {
  if (first === undefined) return target;
  return { ...target, candidates: [...new Set([first, ...(target.candidates ?? [target.address])])] };
}

/** The port of an http(s) URL, whether written or not. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function keyOf(host: string, port: number): string {
  return `${host} ${port}`;
}

function tooMuch(limit: string): Failure {
  const message = `The page goes over the limit of ${limit} for a picture.`;
  return { code: 'screenshot_failed', phase: 'request', source: 'target', message };
}
