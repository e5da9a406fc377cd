import type { Socket } from 'node:net';

import type { Admission, Admit, Failure, ScreenshotLimit, Target } from '@vantage/contract';

import { connectFirst } from '../../sockets/connect-first.ts';
import { loadReceiveWindow } from '../../sockets/receive-window.ts';

/** Limits for one screenshot. Requests beyond them are refused, and the page is captured as it is. */
export interface ProxyLimits extends Readonly<Record<ScreenshotLimit, number>> {
  /** Requests without TLS, and tunnels: the requests inside a tunnel cannot be counted. */
  readonly requests: number;
  /** Different pairs of host and port. */
  readonly hosts: number;
  /** Connections that are open or being made at the same time. */
  readonly connections: number;
  /**
   * Bytes in both directions over all connections, except the heads of requests without TLS. For each open connection,
   * `WINDOW_BYTES` are added, which its target may have sent already. Beyond this number, all connections end.
   */
  readonly bytes: number;
}

export const defaultProxyLimits: ProxyLimits = { requests: 500, hosts: 64, connections: 64, bytes: 24 * 1024 * 1024 };

export interface ProxyCounts {
  readonly requests: number;
  readonly hosts: number;
  readonly bytes: number;
  /** Requests whose host was not admitted, or that a limit refused. */
  readonly refused: number;
  readonly exceeded: readonly ScreenshotLimit[];
}

/**
 * Receive window of a connection. That of the kernel grows to megabytes, which targets send although the limit ends the
 * connection before they are read.
 */
const WINDOW_BYTES = 256 * 1024;

const CONNECT_TIMEOUT_MS = 8_000;
/** Time for each address but the last; the kernel sends a lost SYN again after one second. */
const NEXT_AFTER_MS = 2_500;

/** Admission, connections and accounting of one screenshot. */
export interface Ledger {
  /** Connects to an admitted address; null on failure, whose reason `failureFor` returns unless the signal aborted. */
  readonly connect: (host: string, port: number) => Promise<Socket | null>;
  /**
   * @param upstream the connection that transferred the bytes; closed if the limit of its network or of the screenshot
   *   is exceeded
   */
  readonly countBytes: (bytes: number, upstream: Socket) => void;
  readonly noteFailure: (host: string, port: number, failure: Failure) => void;
  readonly failureFor: (url: URL) => Failure | undefined;
  readonly counts: () => ProxyCounts;
  readonly endAll: () => void;
}

/** Counts bytes exchanged with an address; returns false if the limit of its network is exceeded. */
export type ChargeBytes = (address: string, bytes: number) => boolean;

export function ledger(
  admit: Admit,
  limits: ProxyLimits,
  signal: AbortSignal,
  charge: ChargeBytes = () => true,
): Ledger {
  return new ProxyLedger(admit, limits, signal, charge);
}

class ProxyLedger implements Ledger {
  private readonly admit: Admit;
  private readonly limits: ProxyLimits;
  private readonly signal: AbortSignal;
  private readonly charge: ChargeBytes;
  /** Admissions by host and port, each requested once for the whole screenshot. */
  private readonly admissions = new Map<string, Promise<Admission>>();
  private readonly failures = new Map<string, Failure>();
  private readonly open = new Set<Socket>();
  /** The last responsive address by host, which is tried first. */
  private readonly answering = new Map<string, string>();
  private readonly exceeded = new Set<ScreenshotLimit>();
  private readonly window = loadReceiveWindow();
  private requests = 0;
  private connecting = 0;
  private bytes = 0;
  private isFull = false;
  private refused = 0;

  constructor(admit: Admit, limits: ProxyLimits, signal: AbortSignal, charge: ChargeBytes) {
    this.admit = admit;
    this.limits = limits;
    this.signal = signal;
    this.charge = charge;
  }

  readonly connect = async (host: string, port: number): Promise<Socket | null> => {
    const key = keyOf(host, port);
    this.requests += 1;
    const limit = this.overLimit(key);
    if (limit !== undefined) {
      this.exceeded.add(limit);
      return this.refuse(key, tooMuch(limit));
    }
    this.connecting += 1;
    try {
      const admission = await this.admitOnce(key, host, port);
      if (!admission.admitted) return this.refuse(key, admission.failure);
      return await this.connectTo(key, admission.target, port);
    } catch {
      // The admission rejects when the signal is aborted, and then the result is not needed.
      return null;
    } finally {
      this.connecting -= 1;
    }
  };

  readonly countBytes = (more: number, upstream: Socket): void => {
    this.bytes += more;
    const isAllowed = upstream.remoteAddress === undefined || this.charge(upstream.remoteAddress, more);
    if (!isAllowed) upstream.destroy();
    this.isFull ||= this.bytes + this.open.size * WINDOW_BYTES > this.limits.bytes;
    if (!isAllowed || this.isFull) this.exceeded.add('bytes');
    if (this.isFull) this.endAll();
  };

  readonly noteFailure = (host: string, port: number, failure: Failure): void => {
    this.failures.set(keyOf(host, port), failure);
  };

  readonly failureFor = (url: URL): Failure | undefined => this.failures.get(keyOf(url.hostname, portOf(url)));

  readonly counts = (): ProxyCounts => {
    const { requests, bytes, refused } = this;
    return { requests, hosts: this.admissions.size, bytes, refused, exceeded: [...this.exceeded] };
  };

  readonly endAll = (): void => {
    for (const socket of this.open) socket.destroy();
  };

  private async connectTo(key: string, target: Target, port: number): Promise<Socket | null> {
    const { connected, address } = await connectFirst(beginningWith(this.answering.get(target.host), target), port, {
      signal: this.signal,
      boundMs: (isLast) => (isLast ? CONNECT_TIMEOUT_MS : NEXT_AFTER_MS),
    });
    if (connected.socket === null) {
      this.failures.set(key, connected.failure);
      return null;
    }
    const { socket } = connected;
    (await this.window)?.limit(socket, WINDOW_BYTES);
    this.answering.set(target.host, address);
    this.open.add(socket);
    socket.on('close', () => this.open.delete(socket));
    this.failures.delete(key);
    return socket;
  }

  private refuse(key: string, failure: Failure): null {
    this.refused += 1;
    this.failures.set(key, failure);
    return null;
  }

  private overLimit(key: string): ScreenshotLimit | undefined {
    const { limits, admissions } = this;
    if (this.requests > limits.requests) return 'requests';
    if (this.isFull) return 'bytes';
    if (this.open.size + this.connecting >= limits.connections) return 'connections';
    return !admissions.has(key) && admissions.size >= limits.hosts ? 'hosts' : undefined;
  }

  private admitOnce(key: string, host: string, port: number): Promise<Admission> {
    const known = this.admissions.get(key);
    if (known !== undefined) return known;
    const asked = this.admit({ purpose: 'http', host, port }, this.signal);
    this.admissions.set(key, asked);
    return asked;
  }
}

function beginningWith(first: string | undefined, target: Target): Target {
  if (first === undefined) return target;
  return { ...target, candidates: [...new Set([first, ...(target.candidates ?? [target.address])])] };
}

/** The port of an http(s) URL, whether written or not. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

const keyOf = (host: string, port: number): string => `${host} ${port}`;

function tooMuch(limit: string): Failure {
  const message = `The page goes over the limit of ${limit} for a screenshot.`;
  return { code: 'screenshot_failed', phase: 'request', source: 'target', message };
}
