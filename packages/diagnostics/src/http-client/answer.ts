import type { Failure, FailurePhase } from '@vantage/contract';

import type { DeviationCode } from './deviations.ts';
import type { PeerError } from './http2/peer-error.ts';
import type { Body } from './response-body.ts';
import type { Head } from './response-head.ts';

/** Outcome of one request, with phase timings in milliseconds; `null` for what is missing. */
export interface Answer {
  /** Time from the request to the first byte. */
  readonly firstByteMs: number | null;
  /** Time from the first byte to the end of the body, or to its cap; null if a failure ended the exchange. */
  readonly downloadMs: number | null;
  /** Time from the request to the end of the exchange: the complete response, the size cap, or the failure. */
  readonly totalMs: number;
  readonly head: Head | null;
  /** The received part of an incomplete head; null without one, and over HTTP/2. */
  readonly partialHead: Head | null;
  readonly deviations: readonly DeviationCode[];
  readonly peerError: PeerError | null;
  readonly body: Body | null;
  readonly failure: Failure | null;
}

/** Timings and head, once the head is complete. */
export interface HeadSeen {
  readonly head: Head;
  readonly firstByteMs: number;
  readonly headMs: number;
}

/**
 * Receives parsed parts from the reader of an HTTP version. Each function may be called after the answer is settled.
 */
export interface AnswerSink {
  /** Counts received bytes of any kind. */
  readonly received: (bytes: number) => void;
  readonly firstByte: () => void;
  readonly interim: () => void;
  readonly head: (head: Head) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  readonly end: () => void;
  /** Called instead of `end` when the connection ended the response without close_notify: it may be incomplete. */
  readonly cut: () => void;
  readonly fail: (fault: (phase: FailurePhase) => Failure) => void;
  readonly deviation: (code: DeviationCode) => void;
  /** Called with the error that the peer reported before it ended the response. */
  readonly peerError: (error: PeerError) => void;
}

/** Controls a request that was sent. */
export interface Sending {
  /** Ends the request and its connection. */
  readonly stop: () => void;
  /** The received part of an incomplete head; null without one, and over HTTP/2. */
  readonly partialHead: () => Head | null;
  /** Over HTTP/2, allows the target to send this many bytes of the body; over HTTP/1.1 it does nothing. */
  readonly allowBody: (bytes: number) => void;
}

/** Limits on receiving an answer. */
export interface ReceiveBounds {
  /** Maximum bytes to read of the body that follows this head. */
  readonly bodyCapOf: (head: Head) => number;
  /** Called with the body bytes that are read. */
  readonly onBody?: ((bytes: Uint8Array) => void) | undefined;
  /** Limits the receive window to about this number of bytes still to come, where the socket allows it. */
  readonly limitReceived: (bytes: number) => void;
}
