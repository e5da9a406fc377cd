/** Default number of packets of a ping. Such a ping is not ended early. */
const SHORT_PING = 4;

/**
 * Changes the request of a client that follows its check by a stream: a traceroute with rounds, or a ping of more than
 * `SHORT_PING` packets, may then end when the client goes away. A request that sets `endWithStream` itself is not
 * changed.
 */
export function endingWithStream<Request extends { readonly type: string; readonly options?: object | undefined }>(
  request: Request,
): Request {
  const { rounds, count, endWithStream } = (request.options ?? {}) as Readonly<Record<string, unknown>>;
  if (endWithStream !== undefined) return request;
  const isLong =
    request.type === 'ping' ? Number(count) > SHORT_PING : request.type === 'traceroute' && rounds !== undefined;
  return isLong ? { ...request, options: { ...request.options, endWithStream: true } } : request;
}
