import { isIPv6 } from 'node:net';

import type { Failure, Family, Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { AnswerSink, Sending } from '../../../http-client/answer.ts';
import { describeDeviation } from '../../../http-client/deviations.ts';
import { sendHttp1 } from '../../../http-client/http1.ts';
import { againAfter, sendHttp2, type Again as AgainByHttp2 } from '../../../http-client/http2.ts';
import type { PeerError } from '../../../http-client/http2/peer-error.ts';
import { receiveResponse } from '../../../http-client/read-response.ts';
import { bodyCapOf, isRedirect, portOf, type Request } from '../../../http-client/request.ts';
import { headFields, type Head } from '../../../http-client/response-head.ts';
import { MAX_LISTED_ADDRESSES } from '../../../shared/address-fields.ts';
import { boundText } from '../../../shared/bounded-text.ts';
import { timedOut } from '../../../shared/classify-error.ts';
import { NO_PARAMETERS } from '../../../shared/error-codes.ts';
import type { Offer } from '../../../tls/certificate/trust-store.ts';
import { MAX_DEVIATIONS } from '../result-fields.ts';
import type { Http, HttpFields } from '../types.ts';
import { askAsChromium, type Answered } from './ask-as-chromium.ts';
import { recordStep, type Step, type StepProgress, type StepRecord } from './hop-timings.ts';
import { connectRecorded, openChannel, type Channel, type ChannelOptions } from './open-channel.ts';

export interface StepOptions extends Pick<ChannelOptions, 'insecureSSL' | 'tls'> {
  readonly httpVersion: 'auto' | '1.1' | '2';
  readonly family: Family | undefined;
  /** Publishes the fields known so far. */
  readonly onProgress: (fields: StepProgress) => void;
}

/** How to repeat a request. `with ML-KEM`: the server agrees to no usual group, and may require a post-quantum one. */
type Again = AgainByHttp2 | 'with ML-KEM';
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
  let offer: Offer = 'usual';
  let { target } = admitted;
  const received = { before: 0 };
  const tried = new Set<Again>(options.httpVersion === 'auto' ? [] : ['by HTTP/1.1']);
  for (;;) {
    const { failure, again, address, answered } = await attemptBy(
      { version, offer, target, request, options, received },
      context,
      record,
    );
    if (again === null || tried.has(again)) {
      const step = record.end(failure);
      if (answered === undefined || step.head === null || isFollowed(request, step.head)) return step;
      const tls = await askAsChromium(answered, context);
      if (tls !== undefined) record.add({ tls });
      return record.end(failure);
    }
    tried.add(again);
    record.retry();
    if (again === 'by HTTP/1.1') version = '1.1';
    if (again === 'with ML-KEM') offer = again;
    target = { ...admitted.target, candidates: [address] };
  }
}

interface Exchanged {
  readonly failure: Failure | null;
  readonly again: Again | null;
}

interface Attempt extends Exchanged {
  readonly address: string;
  /** The connection of the request, if it was one over TLS, by the rules of clients' checks. */
  readonly answered?: Answered;
}

interface Asked {
  readonly version: StepOptions['httpVersion'];
  readonly offer: Offer;
  readonly target: Target;
  readonly request: Request;
  readonly options: StepOptions;
  /** Bytes received on connections of earlier attempts, which share one limit. */
  readonly received: { before: number };
}

async function attemptBy(
  { version, offer, target, request, options, received }: Asked,
  context: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<Attempt> {
  const { connected, address } = await connectRecorded(target, request.url, context, record);
  if (connected.failure !== null) {
    // A connection that the target ended before it was used fails in the next phase, which is TLS for https.
    const isUnused = connected.ms !== undefined && request.url.protocol === 'https:';
    return { failure: isUnused ? { ...connected.failure, phase: 'tls' } : connected.failure, again: null, address };
  }
  const channel = await openChannel(
    connected.socket,
    target,
    request.url,
    { ...options, version, offer },
    context,
    record,
  );
  if (channel.failure !== null) {
    const again = channel.failure.message === NO_PARAMETERS ? 'with ML-KEM' : null;
    return { failure: channel.failure, again, address };
  }
  const receivedBytes = (): number => received.before + channel.receivedBytes();
  const { failure, again } = await exchange({ ...channel, receivedBytes }, request, context.signal, record);
  received.before = receivedBytes();
  const { secured } = channel;
  return {
    failure: failure === null ? null : channel.explain(failure),
    again,
    address,
    ...(secured === null || options.tls !== undefined
      ? {}
      : {
          answered: {
            ...secured,
            offer,
            url: request.url,
            target: { ...target, address, family: isIPv6(address) ? 6 : 4 },
          },
        }),
  };
}

function isFollowed({ followsRedirects }: Request, head: Head): boolean {
  return followsRedirects && isRedirect(head);
}

async function admit(
  url: URL,
  family: Family | undefined,
  { admit, signal }: DiagnosticContext<Http>,
  record: StepRecord,
): Promise<{ readonly target: Target; readonly failure: null } | { readonly failure: Failure }> {
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
