import type { Socket } from 'node:net';
import { setImmediate as nextImmediate } from 'node:timers/promises';

import { roundMs, type Failure, type Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import { portOf } from '../../../http-client/request.ts';
import { limitReceived } from '../../../http-client/receive-limit.ts';
import { connectFirst, type FirstConnected } from '../../../sockets/connect-first.ts';
import type { Offer } from '../../../tls/certificate/trust-store.ts';
import type { Chosen } from '../../../tls/chromium-offer.ts';
import { handshakeBy } from '../../../tls/handshake/handshake-by.ts';
import { tlsHandshake } from '../../../tls/handshake/handshake.ts';
import type { TlsRules } from '../../../tls/rules.ts';
import type { Tls } from '../../../tls/schema.ts';
import type { Http } from '../types.ts';
import type { StepRecord } from './hop-timings.ts';

/** A connection that a request may be sent over. */
export interface Channel {
  readonly socket: Socket;
  readonly http2: boolean;
  /** False if data may have been truncated; to be called at the end of the connection. */
  readonly endedInOrder: () => boolean;
  /** Bytes received over TCP, including TLS overhead. */
  readonly receivedBytes: () => number;
  readonly limitReceived: (bytes: number) => void;
  /** Adds details from the handshake to a failure. */
  readonly explain: (failure: Failure) => Failure;
  /** The TLS connection; null for http URLs. */
  readonly secured: { readonly tls: Tls; readonly chosen: Chosen } | null;
  readonly failure: null;
}

/** How to turn a TCP connection into a channel for a request. */
export interface ChannelOptions {
  readonly version: 'auto' | '1.1' | '2';
  readonly offer: Offer;
  readonly insecureSSL: boolean;
  /** TLS rules of a module; undefined for the rules of clients' checks. */
  readonly tls?: TlsRules | undefined;
}

/** Longest wait for a SYN-ACK while other addresses are left: a lost SYN is sent again after a second, and later. */
const MAX_SYN_WAIT_MS = 4_000;

/** Connects to the first address of a target that takes a connection. */
export async function connectRecorded(
  target: Target,
  url: URL,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<FirstConnected> {
  const first = await connectFirst(target, portOf(url), {
    signal: context.signal,
    boundMs: (isLast) => (isLast ? undefined : Math.min(MAX_SYN_WAIT_MS, context.remainingMs() / 2)),
    icmp: context,
  });
  const { connected, address, dead } = first;
  record.resolved(address);
  for (const { ms } of dead) record.broken(ms);
  const isMade = connected.ms !== undefined;
  if (dead.length > (isMade ? 0 : 1)) {
    record.add({
      deadAddresses: dead.map(({ address, failure, ms }) => ({ address, error: failure.code, time: roundMs(ms) })),
    });
  }
  if (!isMade) return first;
  if (dead.length > 0) record.retry();
  record.done('connect', connected.ms);
  return first;
}

/** Performs the TLS handshake, if the URL is of https. */
export async function openChannel(
  socket: Socket,
  target: Target,
  url: URL,
  { version, offer, insecureSSL, tls }: ChannelOptions,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<Channel | { readonly failure: Failure }> {
  const { signal, receiveWindow } = context;
  const received = {
    receivedBytes: () => socket.bytesRead,
    limitReceived: limitReceived(socket, receiveWindow),
  };
  if (url.protocol === 'http:') {
    const explain = (failure: Failure): Failure => failure;
    return {
      socket,
      http2: version === '2',
      endedInOrder: () => true,
      ...received,
      explain,
      secured: null,
      failure: null,
    };
  }

  const securing = performance.now();
  const alpn = { auto: ['h2', 'http/1.1'], '1.1': ['http/1.1'], '2': ['h2'] }[version];
  const secured = await tlsHandshake(socket, { ...handshakeBy(tls, target.host, context), alpn, offer }, signal);
  if (secured.socket === null) {
    socket.destroy();
    if (secured.fields !== null) record.add({ ...secured.fields });
    record.broken(performance.now() - securing);
    return secured;
  }
  record.done('tls', secured.ms);
  record.add(secured.fields);

  const http2 = secured.fields.tls.alpn === 'h2';
  const failure = (insecureSSL ? null : secured.distrust) ?? (version === '2' && !http2 ? noHttp2() : null);
  if (failure === null) {
    const { socket: secure, endedTls: endedInOrder, explain, brokenBy } = secured;
    await turnOfLoop();
    const broken = brokenBy();
    if (broken !== null) return { failure: explain(broken) };
    const { fields, chosen } = secured;
    return { socket: secure, http2, endedInOrder, ...received, explain, secured: { tls: fields.tls, chosen }, failure };
  }
  secured.socket.destroy();
  return { failure };
}

/**
 * Reads what arrived while the certificates were evaluated. A server that rejects the client may have sent an alert and
 * closed by then; a write would replace it with a generic error.
 */
async function turnOfLoop(): Promise<void> {
  await nextImmediate();
  await nextImmediate();
}

function noHttp2(): Failure {
  return { code: 'protocol_unreachable', phase: 'tls', source: 'target', message: 'The server does not offer HTTP/2.' };
}
