import type { Failure, FailureCode, FailurePhase } from '@vantage/contract';

import { connectionClosed, headTooLarge, timedOut } from '../shared/classify-error.ts';
import { MAX_RECEIVED_BEFORE_HEAD, mostReceived } from './bounds.ts';
import type { DeviationCode } from './deviations.ts';
import { readBody, type Body, type BodyReader } from './response-body.ts';
import { headerOf, headersOf, type Head } from './response-head.ts';
import type { PeerError } from './http2/reader.ts';

/** TLS reads so much before it gives out the first of it. */
const READ_AHEAD_BYTES = 64 * 1024;
/** The kernel's buffer holds up to twice of what it is told. */
const WINDOW_SHARE = 0.875;
/** For records of TLS that carry nothing; all else is looked at as it comes. */
const LOOK_AT_RECEIVED_EVERY_MS = 50;
/** Interim (1xx) answers before which a target has to come to the point. */
const MAX_INTERIM = 16;

/** What one request got, with the times of its phases in milliseconds; `null` for what did not come to its end. */
export interface Answer {
  /** From the request to the first byte. */
  readonly firstByteMs: number | null;
  /** From the first byte to the end of the body, or to where it was cut off at its cap. */
  readonly downloadMs: number | null;
  /** From the request to the end of it all, whichever it was. */
  readonly totalMs: number;
  readonly head: Head | null;
  /** What had come of a head that did not come to its end. */
  readonly partialHead: Head | null;
  readonly deviations: readonly DeviationCode[];
  readonly peerError: PeerError | null;
  readonly body: Body | null;
  readonly failure: Failure | null;
}

/** The same once the head is there. */
export interface HeadSeen {
  readonly head: Head;
  readonly firstByteMs: number;
  readonly headMs: number;
}

/** Where a reader of one version of HTTP puts what it reads. Each is safe to call after the answer is settled. */
export interface AnswerSink {
  /** So many bytes have come, whatever they are. */
  readonly received: (bytes: number) => void;
  readonly firstByte: () => void;
  readonly interim: () => void;
  readonly head: (head: Head) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  readonly end: () => void;
  /** The answer is over, and may not be whole. */
  readonly cut: () => void;
  readonly fail: (fault: (phase: FailurePhase) => Failure) => void;
  readonly deviation: (code: DeviationCode) => void;
  /** The error that the peer gave before it ended the answer. */
  readonly peerError: (error: PeerError) => void;
}

/** A request that was sent. */
export interface Sending {
  /** Ends it and its connection. */
  readonly stop: () => void;
  /** What has come of a head that is not whole. */
  readonly partialHead: () => Head | null;
  /** Lets the target send so many bytes of the body, now that the head is there. */
  readonly allowBody: (bytes: number) => void;
}

/** What is taken of an answer. */
export interface ReceiveBounds {
  /** Bytes of the body that an answer with this head is read to. */
  readonly bodyCapOf: (head: Head) => number;
  /** Told how much is still to be read. */
  readonly limitReceived: (bytes: number) => void;
}

/**
 * Sends one request and takes its answer under the bounds that hold for any version of HTTP.
 *
 * @param send sends the request and feeds the sink
 * @param receivedBytes bytes that came in for the request so far: a body of one-byte chunks, or frames and records that carry
 *   nothing, never come to the bounds of head and body
 * @param onHead is called once the head is there
 */
export function receive(
  send: (sink: AnswerSink) => Sending,
  receivedBytes: () => number,
  { bodyCapOf, limitReceived }: ReceiveBounds,
  signal: AbortSignal,
  onHead: (soFar: HeadSeen) => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    let maxReceivedBytes = MAX_RECEIVED_BEFORE_HEAD;
    /** Out of TLS, where there is one. */
    let givenBytes = receivedBytes();
    const started = performance.now();
    const since = (): number => performance.now() - started;
    let firstByteMs: number | null = null;
    let head: Head | null = null;
    let reader: BodyReader | undefined;
    let interim = 0;
    let bodyLeft = 0;
    let settled = false;
    let sending: Sending = { stop: () => undefined, partialHead: () => null, allowBody: () => undefined };
    let peerError: PeerError | null = null;
    const deviations = new Set<DeviationCode>();
    const watch = setInterval(() => lookAtReceived(), LOOK_AT_RECEIVED_EVERY_MS);

    const answer = (ends: Pick<Answer, 'body' | 'failure' | 'downloadMs' | 'totalMs'>): Answer => {
      const partialHead = head === null ? sending.partialHead() : null;
      return { firstByteMs, head, partialHead, deviations: [...deviations], peerError, ...ends };
    };
    const close = (): boolean => {
      if (settled) return false;
      settled = true;
      signal.removeEventListener('abort', giveUp);
      clearInterval(watch);
      sending.stop();
      return true;
    };
    const fail = (fault: (phase: FailurePhase) => Failure): void => {
      const totalMs = since();
      if (!close()) return;
      const failure = fault(firstByteMs === null ? 'request' : 'response');
      resolve(answer({ body: reader?.breakOff() ?? null, failure, downloadMs: null, totalMs }));
    };
    const finish = (complete: boolean): void => {
      const totalMs = since();
      if (reader === undefined) return fail(connectionClosed);
      if (!close()) return;
      const downloadMs = totalMs - (firstByteMs ?? totalMs);
      void reader.finish(complete).then(({ body, decodable, hasTrailingBytes }) => {
        if (hasTrailingBytes) deviations.add('bytes_after_gzip');
        const failure = decodable ? null : fault('http_decode_failed', UNDECODABLE)('response');
        resolve(answer({ body, failure, downloadMs, totalMs }));
      });
    };
    const giveUp = (): void => fail((phase) => timedOut(phase, 'The answer did not come to its end in time.'));

    const lookAtReceived = (): void => {
      const unread = receivedBytes();
      if (givenBytes <= maxReceivedBytes && unread <= maxReceivedBytes + READ_AHEAD_BYTES) {
        const left = WINDOW_SHARE * Math.max(0, maxReceivedBytes - unread);
        limitReceived(reader === undefined ? left : Math.min(bodyLeft, left));
      } else if (reader !== undefined) finish(false);
      else fail(firstByteMs === null ? fault('http_malformed', NO_HEAD) : headTooLarge);
    };

    const sink: AnswerSink = {
      received: (bytes) => {
        givenBytes += bytes;
        if (!settled) lookAtReceived();
      },
      firstByte: () => {
        firstByteMs ??= since();
      },
      interim: () => {
        interim += 1;
        if (interim > MAX_INTERIM)
          fail(fault('http_too_many_interim', `More than ${MAX_INTERIM} interim answers came.`));
      },
      head: (received) => {
        if (settled) return;
        sink.firstByte();
        const headMs = since();
        head = received;
        for (const [name, code] of SINGLE_HEADERS) {
          if (new Set(headersOf(received, name)).size > 1) deviations.add(code);
        }
        bodyLeft = bodyCapOf(received);
        reader = readBody(headerOf(received, 'content-encoding'), bodyLeft);
        maxReceivedBytes = mostReceived(bodyLeft);
        lookAtReceived();
        sending.allowBody(bodyLeft);
        onHead({ head, headMs, firstByteMs: firstByteMs ?? headMs });
      },
      bytes: (bytes) => {
        if (settled || reader === undefined) return;
        if (!reader.push(bytes)) return finish(false);
        bodyLeft -= bytes.length;
      },
      end: () => finish(true),
      cut: () => finish(false),
      fail,
      deviation: (code) => void deviations.add(code),
      peerError: (error) => {
        if (!settled) peerError = error;
      },
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp);
    sending = send(sink);
    if (settled) sending.stop();
  });
}

/** Headers that browsers take once: with two that differ they could be split off another answer. */
const SINGLE_HEADERS = [
  ['location', 'location_differs'],
  ['content-disposition', 'content_disposition_differs'],
] as const;

const NO_HEAD = `The target sent ${MAX_RECEIVED_BEFORE_HEAD / 1024} KiB and no head of an answer.`;
const UNDECODABLE = 'The body cannot be decoded as its Content-Encoding says.';

/** A fault of the answer, wherever it shows. */
export function fault(code: FailureCode, message: string): (phase: FailurePhase) => Failure {
  return (phase) => ({ code, phase, source: 'target', message });
}
