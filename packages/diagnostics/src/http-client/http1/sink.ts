import type { Deviates } from '../deviations.ts';
import type { Head } from '../response-head.ts';

/** Why an HTTP/1 response cannot be parsed further. */
export type ResponseFault =
  | { readonly kind: 'malformed'; readonly reason: string }
  /** The head, or the trailers, are over the bound. */
  | { readonly kind: 'too large' }
  /** The connection ended before the answer did. */
  | { readonly kind: 'closed' };

/** Receives parsed parts of a response. After `end`, `cut` or `fault` nothing follows except deviations. */
export interface ResponseSink {
  /** Called with each interim (1xx) answer except 101. */
  readonly interim: (head: Head) => void;
  readonly head: (head: Head) => void;
  readonly body: (bytes: Uint8Array) => void;
  readonly end: () => void;
  /** Called instead of `end` if the body ended with the connection, and TLS ended without close_notify. */
  readonly cut: () => void;
  readonly fault: (fault: ResponseFault) => void;
  /** May be called more than once for a code. */
  readonly deviation: Deviates;
}
