import type { Socket } from 'node:net';

import type { Failure, Family, Target } from '@vantage/contract';

import { timedOut } from '../classify.ts';
import { connectPinned } from '../connect.ts';
import type { DiagnosticContext } from '../diagnostic.ts';
import { MAX_DEVIATIONS } from './contract.ts';
import { describeDeviation } from './deviations.ts';
import { headFields } from './head.ts';
import { sendHttp1 } from './http1.ts';
import { sendHttp2 } from './http2.ts';
import type { Http } from './measured.ts';
import { receive } from './receive.ts';
import { recordStep, type Step, type StepProgress, type StepRecord } from './record.ts';
import type { Request } from './request.ts';
import { explainLater, tlsHandshake } from '../tls/handshake.ts';
import { createTrustStore } from '../tls/trust-store.ts';

export interface StepOptions {
  readonly insecureSSL: boolean;
  readonly httpVersion: 'auto' | '1.1' | '2';
  readonly family: Family | undefined;
  /** Shows what is known so far. */
  readonly onProgress: (fields: StepProgress) => void;
}

type Failed = { readonly failure: Failure };
/** A connection that a request may be sent over. */
interface Channel {
  readonly socket: Socket;
  readonly http2: boolean;
  /** Bytes that came in by TCP, those of TLS included. */
  readonly receivedBytes: () => number;
  /** Adds to a failure what the handshake tells about it. */
  readonly explain: (failure: Failure) => Failure;
  readonly failure: null;
}

/** Admits the target of a request, connects to its pinned address, makes it secure, sends the request, takes the answer. */
export async function takeStep(
  request: Request,
  options: StepOptions,
  context: DiagnosticContext<Http>,
): Promise<Step> {
  const record = recordStep(request.url, options.onProgress);
  const admitted = await admit(request.url, options.family, context, record);
  if (admitted.failure !== null) return record.end(admitted.failure);

  const channel = await open(admitted.target, request.url, options, context, record);
  if (channel.failure !== null) return record.end(channel.failure);

  const failure = await exchange(channel, request, context.signal, record);
  return record.end(failure === null ? null : channel.explain(failure));
}

async function admit(
  url: URL,
  family: Family | undefined,
  { admit, signal }: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<{ readonly target: Target; readonly failure: null } | Failed> {
  const started = performance.now();
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  try {
    const admission = await admit({ host, port: portOf(url), purpose: 'http', family }, signal);
    if (!admission.admitted) {
      record.broken(admission.resolveMs);
      return { failure: admission.failure };
    }
    record.resolved(admission.target.address);
    record.done('dns', admission.target.resolveMs);
    return { target: admission.target, failure: null };
  } catch (error) {
    if (!signal.aborted) throw error;
    record.broken(performance.now() - started);
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

async function open(
  target: Target,
  url: URL,
  options: StepOptions,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<Channel | Failed> {
  const { signal, certificateAuthorities = [], trust = createTrustStore(certificateAuthorities) } = context;
  const { insecureSSL, httpVersion } = options;
  const connecting = performance.now();
  const connected = await connectPinned(target, portOf(url), signal, { icmp: context });
  if (connected.socket === null) {
    record.broken(performance.now() - connecting);
    return connected;
  }
  record.done('connect', connected.ms);
  const receivedBytes = (): number => connected.socket.bytesRead;
  if (url.protocol === 'http:') {
    const explain = (failure: Failure): Failure => failure;
    return { socket: connected.socket, http2: httpVersion === '2', receivedBytes, explain, failure: null };
  }

  const securing = performance.now();
  const alpn = { auto: ['h2', 'http/1.1'], '1.1': ['http/1.1'], '2': ['h2'] }[httpVersion];
  const secured = await tlsHandshake(connected.socket, { host: target.host, alpn, trust }, signal);
  if (secured.socket === null) {
    connected.socket.destroy();
    if (secured.fields !== null) record.add({ ...secured.fields });
    record.broken(performance.now() - securing);
    return secured;
  }
  record.done('tls', secured.ms);
  record.add(secured.fields);

  const http2 = secured.fields.tls.alpn === 'h2';
  const failure = (insecureSSL ? null : secured.distrust) ?? (httpVersion === '2' && !http2 ? noHttp2() : null);
  const explain = (fault: Failure): Failure => explainLater(fault, secured.fields.tls);
  if (failure === null) return { socket: secured.socket, http2, receivedBytes, explain, failure };
  secured.socket.destroy();
  return { failure };
}

async function exchange(
  { socket, http2, receivedBytes }: Channel,
  request: Request,
  signal: AbortSignal,
  record: StepRecord,
): Promise<Failure | null> {
  const send = http2 ? sendHttp2 : sendHttp1;
  const answer = await receive((sink) => send(socket, request, sink), receivedBytes, signal, record.headSeen);
  const { firstByteMs, downloadMs, totalMs, head, partialHead, deviations, body, failure } = answer;
  if (partialHead !== null) record.add(headFields(partialHead));
  if (deviations.length > 0) record.add({ deviations: deviations.slice(0, MAX_DEVIATIONS).map(describeDeviation) });
  if (head === null && firstByteMs !== null) record.done('firstByte', firstByteMs);
  if (downloadMs === null) record.broken(totalMs - (firstByteMs ?? 0));
  else record.done('download', downloadMs);
  if (body !== null) record.add({ ...body });
  return failure;
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function noHttp2(): Failure {
  return { code: 'protocol_unreachable', phase: 'tls', source: 'target', message: 'The server does not offer HTTP/2.' };
}
