import { isAnswerTo } from '@vantage/contract/dns-message';
import { readFirstTimer } from '@vantage/timers';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';

import { classifyError, timedOut } from '../../../shared/classify-error.ts';
import { watchIcmpIfSilent, type IcmpContext, type SilenceWatch } from '../../../sockets/icmp/icmp-watch.ts';
import {
  decodeAnswer,
  failed,
  isTruncated,
  resolverFailure,
  type QueryOutcome,
  type NameServer,
  type PreparedQuery,
} from './query.ts';

export type UdpOutcome = QueryOutcome & {
  /** True if the answer is truncated. It may then be unreadable, and the caller repeats the query over TCP. */
  readonly truncated: boolean;
  /** Datagrams of the server that do not answer the query: another id or question, or unreadable. */
  readonly mismatched: number;
};

export interface UdpOptions {
  /** Time to wait after each transmission, milliseconds; there are as many transmissions as waits. */
  readonly waitsMs: readonly number[];
  readonly icmp: IcmpContext;
}

/**
 * Sends a query over a connected UDP socket, so that the kernel drops datagrams from other addresses and reports ICMP
 * errors. Each retransmission has a separate id, which makes its RTT unambiguous. Mismatched datagrams are ignored (RFC
 * 5452 section 9.1). An ICMP error about the query ends the wait.
 */
export function queryUdp(
  server: NameServer,
  prepared: PreparedQuery,
  { waitsMs, icmp }: UdpOptions,
  signal: AbortSignal,
): Promise<UdpOutcome> {
  return new Promise((resolve) => {
    const sent = new Map<number, { readonly query: Uint8Array; readonly atMs: number }>();
    const socket = createSocket(server.target.family === 6 ? 'udp6' : 'udp4');
    let stopTimer = (): void => undefined;
    let watch: SilenceWatch | undefined;
    let mismatched = 0;

    const settle = (asked: QueryOutcome, truncated = false): void => {
      stopTimer();
      watch?.stop();
      signal.removeEventListener('abort', giveUp);
      socket.removeAllListeners().on('error', () => undefined);
      socket.close();
      resolve({ ...asked, truncated, mismatched });
    };
    const giveUp = (): void => settle(failed(silence(mismatched, watch?.isUnread() ?? false)));
    const fail = (error: Error): void => settle(failed(resolverFailure(classifyError(error, 'request'))));
    const transmit = (attempt: number): void => {
      const waitMs = waitsMs[attempt];
      if (waitMs === undefined) return giveUp();
      const id = freeId(sent);
      const query = prepared.withId(id);
      stopTimer = readFirstTimer(() => transmit(attempt + 1), waitMs);
      sent.set(id, { query, atMs: performance.now() });
      socket.send(query, (error) => {
        if (error !== null) fail(error);
      });
    };

    socket.on('error', fail);
    socket.on('message', (bytes) => {
      const now = performance.now();
      const transmission = bytes.length < 2 ? undefined : sent.get(bytes.readUInt16BE(0));
      if (transmission === undefined || !isAnswerTo(bytes, transmission.query, prepared.nameBytes)) {
        mismatched++;
        return;
      }
      const times = { connectMs: null, tlsMs: null, queryMs: now - transmission.atMs };
      settle(decodeAnswer(bytes, { server, transport: 'udp', ...times }), isTruncated(bytes));
    });
    socket.once('connect', () => {
      transmit(0);
      const { target, port } = server;
      const watched = { context: icmp, target, protocol: 'udp', port, localPort: socket.address().port } as const;
      watch = watchIcmpIfSilent(watched, (heard) => settle(failed(resolverFailure(heard.failure))));
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();
    socket.connect(server.port, server.target.address);
  });
}

function silence(mismatched: number, isIcmpUnread: boolean): ReturnType<typeof timedOut> {
  const datagrams = mismatched === 1 ? 'datagram' : 'datagrams';
  const others = mismatched === 0 ? '' : ` ${mismatched} ${datagrams} came that did not answer the question.`;
  const blindness = isIcmpUnread ? ' The probe cannot read ICMP errors, so one may have come.' : '';
  return timedOut('response', `The resolver did not answer in time.${others}${blindness}`);
}

function freeId(taken: ReadonlyMap<number, unknown>): number {
  const id = randomInt(0x1_00_00);
  return taken.has(id) ? freeId(taken) : id;
}
