import { createSocket, type Socket } from 'node:dgram';

import type { Failure, Target } from '@vantage/contract';
import { awakeTimer } from '@vantage/timers';

import { classifyError } from '../../shared/classify-error.ts';
import type { IcmpNotice } from '../../shared/icmp-contract.ts';
import { unsentFailure } from '../../sockets/unsent.ts';
import { watchIcmp, type HeardIcmp, type IcmpContext, type IcmpWatch } from '../../sockets/icmp/icmp-watch.ts';

/** Outcome of a datagram: an answer, or the failure. */
export type Heard =
  | { readonly kind: 'answer'; readonly bytes: Uint8Array; readonly rtMs: number }
  /** `notice` is the ICMP error that caused the failure, if known. */
  | { readonly kind: 'failure'; readonly failure: Failure; readonly notice: IcmpNotice | null };

export interface Datagram {
  /** The first answer or failure; null until there is one. */
  readonly heard: () => Heard | null;
  /** Resolves once `heard` is not null. Never rejects. */
  readonly settled: Promise<void>;
  /** Time of sending, monotonic, milliseconds; 0 if the socket could not be connected. */
  readonly sentAtMs: number;
  /** False if the datagram was sent, but the probe cannot read ICMP errors about it. */
  readonly readsIcmp: boolean;
  readonly close: () => void;
}

/** Wait for the raw socket after the kernel has reported an ICMP error: only the raw socket knows the sender. */
const NOTICE_GRACE_MS = 150;
/**
 * Wait for an answer after an ICMP error: a network that duplicates a packet may deliver one copy and refuse the other.
 */
const AFTER_ERROR_MS = 200;

/**
 * Sends a datagram from a separate socket, so that its answer is unambiguous. The socket is connected: the kernel drops
 * datagrams from other addresses and reports ICMP errors; raw sockets, if available, add their type and sender.
 */
export async function sendDatagram(
  target: Target,
  port: number,
  payload: Uint8Array,
  context: IcmpContext,
): Promise<Datagram> {
  const socket = createSocket(target.family === 6 ? 'udp6' : 'udp4');
  const settled = Promise.withResolvers<void>();
  let heard: Heard | null = null;
  let sentAtMs = 0;
  let stopGrace: (() => void) | undefined;
  let watch: IcmpWatch | null = null;
  const hear = (one: Heard): void => {
    stopGrace?.();
    heard ??= one;
    settled.resolve();
  };
  /** A new socket cannot have an error of an earlier packet: a failure to send is the probe's own. */
  const onUnsent = (thrown: unknown): void => hear({ kind: 'failure', failure: unsentFailure(thrown), notice: null });
  const onError = (thrown: unknown): void => {
    const one = { kind: 'failure', ...fromKernel(classifyError(thrown, 'request'), target) } as const;
    // After a datagram was sent, a failure that is not the probe's own may be caused by an ICMP error.
    const mayBeNamed = sentAtMs > 0 && one.failure.source !== 'probe' && watch !== null;
    if (!mayBeNamed) return hear(one);
    stopGrace ??= awakeTimer(() => hear(one), NOTICE_GRACE_MS);
  };
  const onNotice = (icmp: HeardIcmp): void => {
    const one: Heard = { kind: 'failure', ...icmp };
    if (isOfClosedPort(icmp.failure)) return hear(one);
    stopGrace?.();
    stopGrace = awakeTimer(() => hear(one), AFTER_ERROR_MS);
  };
  const datagram = (): Datagram => ({
    heard: () => heard,
    settled: settled.promise,
    sentAtMs,
    // A datagram that was never sent cannot cause an ICMP error.
    readsIcmp: watch !== null || sentAtMs === 0,
    close: () => {
      stopGrace?.();
      watch?.stop();
      closeSocket(socket);
    },
  });

  socket.on('error', onError);
  socket.on('message', (bytes) => hear({ kind: 'answer', bytes, rtMs: performance.now() - sentAtMs }));
  try {
    const localPort = await connected(socket, target, port);
    watch = await watchIcmp({ context, target, protocol: 'udp', port, localPort }, onNotice);
  } catch (error) {
    onUnsent(error);
    return datagram();
  }
  sentAtMs = performance.now();
  socket.send(payload, (error) => {
    if (error !== null) onUnsent(error);
  });
  return datagram();
}

/** True for port unreachable from the target or from an unknown sender: that of a router may concern its path only. */
export function isOfClosedPort({ code, source }: Failure): boolean {
  return code === 'port_unreachable' && source === 'target';
}

/** An error that the kernel reports after this is of no interest. */
function closeSocket(socket: Socket): void {
  socket.removeAllListeners().on('error', () => undefined);
  socket.close();
}

/** @returns the port that the kernel chose */
function connected(socket: Socket, target: Target, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // Node reports a missing local port only by this event, not to the callback of `connect`.
    socket.once('error', reject);
    socket.connect(port, target.address, (error?: Error) => {
      if (error === undefined || error === null) resolve(socket.address().port);
      else reject(error);
    });
  });
}

/** Only ECONNREFUSED implies one specific ICMP error; its sender is unknown. */
function fromKernel(
  failure: Failure,
  target: Target,
): { readonly failure: Failure; readonly notice: IcmpNotice | null } {
  if (failure.code !== 'connection_refused') return { failure, notice: null };
  return portUnreachable(target);
}

/**
 * What ECONNREFUSED on a connected UDP socket stands for: ICMP port unreachable, whose sender the kernel does not
 * report.
 */
function portUnreachable({ family }: Target): { readonly failure: Failure; readonly notice: IcmpNotice } {
  const [type, code] = family === 4 ? [3, 3] : [1, 4];
  const message = `Nothing listens on the port, or a filter says so (ICMP type ${type} code ${code}, of an unknown sender).`;
  return {
    failure: { code: 'port_unreachable', phase: 'response', source: 'target', message },
    notice: { type, code, from: null },
  };
}
