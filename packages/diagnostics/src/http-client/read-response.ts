import type { Failure, FailureCode, FailurePhase } from '@vantage/contract';

import { connectionClosed, headTooLarge, timedOut } from '../shared/classify-error.ts';
import { MAX_RECEIVED_BEFORE_HEAD, mostReceived } from './bounds.ts';
import { inOrder, SINGLE_HEADERS, type DeviationCode } from './deviations.ts';
import { readBody, type BodyReader } from './response-body.ts';
import { headerOf, headersOf, type Head } from './response-head.ts';
import type { PeerError } from './http2/peer-error.ts';
import type { Answer, AnswerSink, HeadSeen, ReceiveBounds, Sending } from './answer.ts';

/** Amount that TLS buffers before it delivers data. */
const READ_AHEAD_BYTES = 64 * 1024;
/** The receive window is limited to this share of the bytes still allowed, since the kernel may buffer more. */
const WINDOW_SHARE = 0.875;
/** Interval of checks for empty TLS records; everything else is checked on arrival. */
const RECEIVED_POLL_INTERVAL_MS = 50;
/** Limit of interim (1xx) responses. */
const MAX_INTERIM = 16;

/**
 * Sends a request and receives its response within limits common to all versions of HTTP.
 *
 * @param send sends the request and feeds the sink
 * @param receivedBytes bytes received for the request so far; bounds one-byte chunks and empty frames and records,
 *   which other limits do not
 * @param onHead called when the head is complete
 */
export function receiveResponse(
  send: (sink: AnswerSink) => Sending,
  receivedBytes: () => number,
  bounds: ReceiveBounds,
  signal: AbortSignal,
  onHead: (soFar: HeadSeen) => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    new Reception(receivedBytes, bounds, signal, onHead, resolve).start(send);
  });
}

/** A response being received: `resolve` is called once, and later events have no effect. */
class Reception {
  private readonly started = performance.now();
  private readonly deviations = new Set<DeviationCode>();
  private readonly watch: NodeJS.Timeout;
  private maxReceivedBytes = MAX_RECEIVED_BEFORE_HEAD;
  /** Bytes received before the request, and those that the socket has delivered since; over TLS decrypted ones. */
  private givenBytes: number;
  private firstByteMs: number | null = null;
  private head: Head | null = null;
  private reader: BodyReader | undefined;
  private interim = 0;
  private bodyLeft = 0;
  private isSettled = false;
  private sending: Sending = { stop: () => undefined, partialHead: () => null, allowBody: () => undefined };
  private peerError: PeerError | null = null;

  private readonly receivedBytes: () => number;
  private readonly bounds: ReceiveBounds;
  private readonly signal: AbortSignal;
  private readonly onHead: (soFar: HeadSeen) => void;
  private readonly resolve: (answer: Answer) => void;

  constructor(
    receivedBytes: () => number,
    bounds: ReceiveBounds,
    signal: AbortSignal,
    onHead: (soFar: HeadSeen) => void,
    resolve: (answer: Answer) => void,
  ) {
    this.receivedBytes = receivedBytes;
    this.bounds = bounds;
    this.signal = signal;
    this.onHead = onHead;
    this.resolve = resolve;
    this.givenBytes = receivedBytes();
    this.watch = setInterval(() => this.readReceived(), RECEIVED_POLL_INTERVAL_MS);
  }

  start(send: (sink: AnswerSink) => Sending): void {
    if (this.signal.aborted) return this.giveUp();
    this.signal.addEventListener('abort', this.giveUp);
    this.sending = send(this.sink);
    if (this.isSettled) this.sending.stop();
  }

  private readonly sink: AnswerSink = {
    received: (bytes) => {
      this.givenBytes += bytes;
      if (!this.isSettled) this.readReceived();
    },
    firstByte: () => void (this.firstByteMs ??= this.since()),
    interim: () => {
      this.interim += 1;
      if (this.interim > MAX_INTERIM)
        this.fail(fault('http_too_many_interim', `More than ${MAX_INTERIM} interim answers came.`));
    },
    head: (head) => this.takeHead(head),
    bytes: (bytes) => {
      if (this.isSettled || this.reader === undefined) return;
      if (!this.reader.push(bytes)) return this.finish(false);
      this.bodyLeft -= bytes.length;
    },
    end: () => this.finish(true),
    cut: () => this.finish(false),
    fail: (makeFault) => this.fail(makeFault),
    deviation: (code) => void this.deviations.add(code),
    peerError: (error) => {
      if (!this.isSettled) this.peerError = error;
    },
  };

  private since(): number {
    return performance.now() - this.started;
  }

  private takeHead(head: Head): void {
    if (this.isSettled) return;
    this.sink.firstByte();
    const headMs = this.since();
    this.head = head;
    for (const [name, code] of SINGLE_HEADERS) {
      if (new Set(headersOf(head, name)).size > 1) this.deviations.add(code);
    }
    this.bodyLeft = this.bounds.bodyCapOf(head);
    this.reader = readBody(headerOf(head, 'content-encoding'), this.bodyLeft, this.bounds.onBody);
    this.maxReceivedBytes = mostReceived(this.bodyLeft);
    this.readReceived();
    this.sending.allowBody(this.bodyLeft);
    this.onHead({ head, headMs, firstByteMs: this.firstByteMs ?? headMs });
  }

  private readReceived(): void {
    const unread = this.receivedBytes();
    if (this.givenBytes <= this.maxReceivedBytes && unread <= this.maxReceivedBytes + READ_AHEAD_BYTES) {
      const left = WINDOW_SHARE * Math.max(0, this.maxReceivedBytes - unread);
      this.bounds.limitReceived(this.reader === undefined ? left : Math.min(this.bodyLeft, left));
    } else if (this.reader !== undefined) this.finish(false);
    else this.fail(this.firstByteMs === null ? fault('http_malformed', NO_HEAD) : headTooLarge);
  }

  private readonly giveUp = (): void => this.fail(this.head === null ? unanswered : bodyUnfinished);

  private fail(makeFault: (phase: FailurePhase) => Failure): void {
    const totalMs = this.since();
    if (!this.close()) return;
    const failure = makeFault(this.firstByteMs === null ? 'request' : 'response');
    this.settle({ body: this.reader?.breakOff() ?? null, failure, downloadMs: null, totalMs });
  }

  private finish(isComplete: boolean): void {
    const totalMs = this.since();
    const { reader } = this;
    if (reader === undefined) return this.fail(connectionClosed);
    if (!this.close()) return;
    const downloadMs = totalMs - (this.firstByteMs ?? totalMs);
    void reader.finish(isComplete).then(({ body, decodable, hasTrailingBytes }) => {
      if (hasTrailingBytes) this.deviations.add('bytes_after_gzip');
      const reason = body.truncated ? CUT_CODING : UNDECODABLE;
      const failure = decodable ? null : fault('http_decode_failed', reason)('response');
      this.settle({ body, failure, downloadMs, totalMs });
    });
  }

  /** @returns false if the response was settled before */
  private close(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.signal.removeEventListener('abort', this.giveUp);
    clearInterval(this.watch);
    this.sending.stop();
    return true;
  }

  private settle(ends: Pick<Answer, 'body' | 'failure' | 'downloadMs' | 'totalMs'>): void {
    const { firstByteMs, head, peerError } = this;
    const partialHead = head === null ? this.sending.partialHead() : null;
    this.resolve({ firstByteMs, head, partialHead, deviations: inOrder(this.deviations), peerError, ...ends });
  }
}

const NO_HEAD = `The target sent ${MAX_RECEIVED_BEFORE_HEAD / 1024} KiB and no head of an answer.`;
const CUT_CODING = 'The body ends before its Content-Encoding does.';
const UNDECODABLE = 'The body cannot be decoded as its Content-Encoding says.';

function unanswered(phase: FailurePhase): Failure {
  return timedOut(phase, 'The answer did not come to its end in time.');
}

function bodyUnfinished(phase: FailurePhase): Failure {
  return {
    ...timedOut(phase, 'The head of the answer came, but its body did not end in time.'),
    code: 'http_body_unfinished',
  };
}

/** Creates the failure for a fault of the answer, in the phase in which it is noticed. */
export function fault(code: FailureCode, message: string): (phase: FailurePhase) => Failure {
  return (phase) => ({ code, phase, source: 'target', message });
}
