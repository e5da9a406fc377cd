import type { HTTPRequest, Page } from 'puppeteer';

/** The requests of a page, its frames and its workers. */
export interface RequestWatch {
  /**
   * Number of requests in flight that the content of the page can depend on; one more for `CHANNEL_MS` after the page
   * opened one of its first `MAX_CHANNELS` WebSockets and EventSources.
   */
  readonly inFlight: () => number;
  /**
   * Number of requests sent so far that the content can depend on, plus WebSockets and EventSources up to
   * `MAX_CHANNELS`.
   */
  readonly sent: () => number;
  /** Resolves when the page has sent `MAX_PAGE_REQUESTS` requests. */
  readonly tooMany: Promise<void>;
}

const MAX_PAGE_REQUESTS = 2_000;
/**
 * A request without its complete answer after this time is taken for a long poll or a stream, and no longer awaited.
 */
const LONG_POLL_MS = 4_000;
/**
 * An answer whose head has arrived is no longer awaited once the page has received no bytes for this time: some bodies
 * are never read.
 */
const UNREAD_MS = 500;
/** Number of requests of a script with the same method, URL and body after which further ones count as polling. */
const MAX_EQUAL_REQUESTS = 10;

/** Time for content over a WebSocket or an EventSource, from the opening of each of the first `MAX_CHANNELS`. */
const CHANNEL_MS = 1_500;
const MAX_CHANNELS = 2;

/** Types of requests that are not awaited. */
const notShown = new Set(['cspviolationreport', 'eventsource', 'media', 'ping', 'preflight', 'prefetch', 'websocket']);

/** Traffic of a page that its requests do not show. */
export interface PageTraffic {
  readonly receivedBytes: () => number;
  /** WebSockets opened so far. */
  readonly webSockets: () => number;
}

export function watchRequests(page: Page, { receivedBytes, webSockets }: PageTraffic): RequestWatch {
  const inFlight = new Map<HTTPRequest, number>();
  const answered = new WeakSet<HTTPRequest>();
  const sentBefore = new Map<string, number>();
  const tooMany = Promise.withResolvers<void>();
  let [all, sent, bytes, bytesMs] = [0, 0, 0, 0];
  let [eventStreams, channels, channelMs] = [0, 0, -Infinity];

  const noteChannels = (): void => {
    const opened = Math.min(MAX_CHANNELS, eventStreams + webSockets());
    if (opened > channels) channelMs = performance.now();
    channels = opened;
  };

  page.on('request', (request) => {
    all += 1;
    if (all === MAX_PAGE_REQUESTS) tooMany.resolve();
    if (request.resourceType() === 'eventsource') eventStreams += 1;
    if (notShown.has(request.resourceType()) || isPoll(request, sentBefore)) return;
    sent += 1;
    inFlight.set(request, performance.now());
  });
  page.on('response', (response) => {
    const request = response.request();
    answered.add(request);
    if (!response.headers()['content-type']?.startsWith('text/event-stream') || !inFlight.delete(request)) return;
    eventStreams += 1;
  });
  page.on('requestfinished', (request) => inFlight.delete(request));
  page.on('requestfailed', (request) => inFlight.delete(request));
  return {
    inFlight: () => {
      const now = performance.now();
      if (receivedBytes() !== bytes) [bytes, bytesMs] = [receivedBytes(), now];
      const isUnread = (request: HTTPRequest): boolean => answered.has(request) && now - bytesMs > UNREAD_MS;
      const awaited = [...inFlight].filter(([request, sentMs]) => now - sentMs < LONG_POLL_MS && !isUnread(request));
      noteChannels();
      return awaited.length + Number(now - channelMs < CHANNEL_MS);
    },
    sent: () => {
      noteChannels();
      return sent + channels;
    },
    tooMany: tooMany.promise,
  };
}

function isPoll(request: HTTPRequest, sentBefore: Map<string, number>): boolean {
  const type = request.resourceType();
  if (type !== 'fetch' && type !== 'xhr') return false;
  const key = `${request.method()} ${request.url()} ${request.postData() ?? ''}`;
  const before = sentBefore.get(key) ?? 0;
  sentBefore.set(key, before + 1);
  return before >= MAX_EQUAL_REQUESTS;
}
