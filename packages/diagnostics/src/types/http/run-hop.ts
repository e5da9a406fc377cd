import type { Socket } from 'node:net';
import { setImmediate as nextImmediate } from 'node:timers/promises';

import { roundMs, type Failure, type Family, type Target } from '@vantage/contract';

import { timedOut } from '../../shared/classify-error.ts';
import { NO_PARAMETERS } from '../../shared/error-codes.ts';
import { boundText } from '../../shared/bounded-text.ts';
import { connectFirst, type FirstConnected } from '../../sockets/connect-first.ts';
import type { DiagnosticContext } from '../../diagnostic.ts';
import { MAX_LISTED_ADDRESSES } from '../../shared/address-fields.ts';
import { MAX_DEVIATIONS } from './contract.ts';
import { describeDeviation } from '../../http-client/deviations.ts';
import { headFields, type Head } from '../../http-client/response-head.ts';
import { sendHttp1 } from '../../http-client/http1.ts';
import { againAfter, sendHttp2, type Again as AgainByHttp2 } from '../../http-client/http2.ts';
import type { PeerError } from '../../http-client/http2/peer-error.ts';
import type { Http, HttpFields } from './types.ts';
import { limitReceived } from '../../http-client/receive-limit.ts';
import { receiveResponse } from '../../http-client/read-response.ts';
import type { AnswerSink, Sending } from '../../http-client/answer.ts';
import { recordStep, type Step, type StepProgress, type StepRecord } from './hop-timings.ts';
import { bodyCapOf, type Request } from '../../http-client/request.ts';
import { tlsHandshake } from '../../tls/handshake/handshake.ts';
import { handshakeBy } from '../../tls/handshake/handshake-by.ts';
import type { Groups } from '../../tls/certificate/trust-store.ts';
import type { TlsRules } from '../../tls/rules.ts';

export interface StepOptions {
  readonly insecureSSL: boolean;
  readonly httpVersion: 'auto' | '1.1' | '2';
  readonly family: Family | undefined;
  /** TLS rules of a module; undefined for the rules of clients' checks. */
  readonly tls?: TlsRules | undefined;
  /** Publishes the fields known so far. */
  readonly onProgress: (fields: StepProgress) => void;
}

type Failed = { readonly failure: Failure };
type Version = StepOptions['httpVersion'];
/** How to repeat a request. `with ML-KEM`: the server agrees to no usual group, and may require a post-quantum one. */
type Again = AgainByHttp2 | 'with ML-KEM';
/** A connection that a request may be sent over. */
interface Channel {
  readonly socket: Socket;
  readonly http2: boolean;
  /** False if data may have been truncated; to be called at the end of the connection. */
  readonly endedInOrder: () => boolean;
  /** Bytes received over TCP, including TLS overhead. */
  readonly receivedBytes: () => number;
  readonly limitReceived: (bytes: number) => void;
  /** Adds details from the handshake to a failure. */
  readonly explain: (failure: Failure) => Failure;
  readonly failure: null;
}

/**
 * Admits the target of a request, connects to one of its addresses, performs the TLS handshake, sends the request and
 * receives the response. If a server refuses HTTP/2 for this request, it is repeated over HTTP/1.1 unless the client
 * chose the version (RFC 9113 section 7); if the server did not process it, it is repeated once over a new connection
 * (sections 6.8 and 8.7), which is safe for every method.
 */
export async function takeStep(
  request: Request,
  options: StepOptions,
  context: DiagnosticContext<Http>,
): Promise<Step> {
  const record = recordStep(request.url, options.onProgress);
  const admitted = await admit(request.url, options.family, context, record);
  if (admitted.failure !== null) return record.end(admitted.failure);

  let version = options.httpVersion;
  let groups: Groups = 'usual';
  let { target } = admitted;
  const received = { before: 0 };
  const tried = new Set<Again>(options.httpVersion === 'auto' ? [] : ['by HTTP/1.1']);
  for (;;) {
    const { failure, again, address } = await attemptBy(
      { version, groups, target, request, options, received },
      context,
      record,
    );
    if (again === null || tried.has(again)) return record.end(failure);
    tried.add(again);
    record.retry();
    if (again === 'by HTTP/1.1') version = '1.1';
    if (again === 'with ML-KEM') groups = again;
    target = { ...admitted.target, candidates: [address] };
  }
}

interface Exchanged {
  readonly failure: Failure | null;
  readonly again: Again | null;
}

type Attempt = Exchanged & { readonly address: string };

interface Asked {
  readonly version: Version;
  readonly groups: Groups;
  readonly target: Target;
  readonly request: Request;
  readonly options: StepOptions;
  /** Bytes received on connections of earlier attempts, which share one limit. */
  readonly received: { before: number };
}

async function attemptBy(
  { version, groups, target, request, options, received }: Asked,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<Attempt> {
  const { connected, address } = await connectRecorded(target, request.url, context, record);
  if (connected.failure !== null) {
    // A connection that the target ended before it was used fails in the next phase, which is TLS for https.
    const isUnused = connected.ms !== undefined && request.url.protocol === 'https:';
    return { failure: isUnused ? { ...connected.failure, phase: 'tls' } : connected.failure, again: null, address };
  }
  const channel = await open(connected.socket, target, request.url, { ...options, version, groups }, context, record);
  if (channel.failure !== null) {
    const again = channel.failure.message === NO_PARAMETERS ? 'with ML-KEM' : null;
    return { failure: channel.failure, again, address };
  }
  const receivedBytes = (): number => received.before + channel.receivedBytes();
  const { failure, again } = await exchange({ ...channel, receivedBytes }, request, context.signal, record);
  received.before = receivedBytes();
  return { failure: failure === null ? null : channel.explain(failure), again, address };
}

/** Longest wait for a SYN-ACK while other addresses are left: a lost SYN is sent again after a second, and later. */
const MAX_SYN_WAIT_MS = 4_000;

async function connectRecorded(
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
    record.add({ addresses: admission.target.addresses.slice(0, MAX_LISTED_ADDRESSES) });
    record.done('dns', admission.target.resolveMs);
    return { target: admission.target, failure: null };
  } catch (error) {
    if (!signal.aborted) throw error;
    record.broken(performance.now() - started);
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

async function open(
  socket: Socket,
  target: Target,
  url: URL,
  { version, groups, insecureSSL, tls }: Pick<StepOptions, 'insecureSSL' | 'tls'> & Pick<Asked, 'version' | 'groups'>,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<Channel | Failed> {
  const { signal, receiveWindow } = context;
  const received = {
    receivedBytes: () => socket.bytesRead,
    limitReceived: limitReceived(socket, receiveWindow),
  };
  if (url.protocol === 'http:') {
    const explain = (failure: Failure): Failure => failure;
    return { socket, http2: version === '2', endedInOrder: () => true, ...received, explain, failure: null };
  }

  const securing = performance.now();
  const alpn = { auto: ['h2', 'http/1.1'], '1.1': ['http/1.1'], '2': ['h2'] }[version];
  const secured = await tlsHandshake(socket, { ...handshakeBy(tls, target.host, context), alpn, groups }, signal);
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
    return { socket: secure, http2, endedInOrder, ...received, explain, failure };
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

async function exchange(
  { socket, http2, endedInOrder, receivedBytes, limitReceived }: Channel,
  request: Request,
  signal: AbortSignal,
  record: StepRecord,
): Promise<Exchanged> {
  const send = (sink: AnswerSink): Sending =>
    http2 ? sendHttp2(socket, request, sink) : sendHttp1(socket, request, sink, endedInOrder);
  const { onBody } = request;
  const bounds = { bodyCapOf: (head: Head) => bodyCapOf(request, head), onBody, limitReceived };
  const answer = await receiveResponse(send, receivedBytes, bounds, signal, record.headSeen);
  const { firstByteMs, downloadMs, totalMs, head, partialHead, deviations, peerError, body, failure } = answer;
  if (partialHead !== null) record.add(headFields(partialHead));
  if (deviations.length > 0) record.add({ deviations: deviations.slice(0, MAX_DEVIATIONS).map(describeDeviation) });
  if (peerError !== null) record.add({ http2Error: describeError(peerError) });
  if (head === null && firstByteMs !== null) record.done('firstByte', firstByteMs);
  if (downloadMs === null) record.broken(totalMs - (firstByteMs ?? 0));
  else record.done('download', downloadMs);
  if (body !== null) record.add({ ...body });
  return { failure, again: head === null ? againAfter(peerError, firstByteMs === null) : null };
}

function describeError({ frame, code, name, debug }: PeerError): NonNullable<HttpFields['http2Error']> {
  return { frame, code, name, debug: debug === null ? null : boundText(debug, 256) };
}

/** The port of a URL, that of its protocol if it names none. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function noHttp2(): Failure {
  return { code: 'protocol_unreachable', phase: 'tls', source: 'target', message: 'The server does not offer HTTP/2.' };
}
