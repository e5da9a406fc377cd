/** Packets of a ping by default: they are sent before an end would reach the probe. */
const SHORT_PING = 4;

/**
 * The request of a client that follows its check by a stream: rounds, and longer pings, end when the client goes away. A
 * request that says whether they do is left as it is.
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
