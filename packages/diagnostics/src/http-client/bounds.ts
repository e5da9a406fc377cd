/** Limits of the received and of the decoded bytes of a body. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Limit of the body of a followed redirect. */
export const MAX_REDIRECT_BODY_BYTES = 16 * 1024;
/** Limit of a head, for each interim response separately, and of the trailers. */
export const MAX_HEAD_BYTES = 48 * 1024;
/** Limit of the number of stored headers of a response. */
export const MAX_KEPT_HEADERS = 100;
/** Limit of the stored headers of a response, bytes of names and values together. */
export const MAX_KEPT_HEADER_BYTES = 8 * 1024;

/**
 * Limit of received bytes before the head of a response, over all its connections: TLS, interim responses, empty
 * frames.
 */
export const MAX_RECEIVED_BEFORE_HEAD = 64 * 1024;
/**
 * Limit of received bytes for a response with a body of this size. In addition to the body it allows 32 KiB and three
 * quarters of the size, together at most 80 KiB: with chunked coding a chunk of eight bytes takes thirteen. In all it
 * is at least `MAX_RECEIVED_BEFORE_HEAD`.
 */
export const mostReceived = (bodyBytes: number): number =>
  Math.max(MAX_RECEIVED_BEFORE_HEAD, bodyBytes + Math.min(80 * 1024, 32 * 1024 + 0.75 * bodyBytes));
