import type { Readable, Writable } from 'node:stream';

import type { ConnectionTransport, Protocol } from 'puppeteer';

/** Commands to a browser and its messages, as JSON texts that end with NUL. */
export interface PipeTransport extends ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly isClosed: () => boolean;
  /** Number of WebSockets that pages have opened, which puppeteer does not report. */
  readonly webSockets: () => number;
  /**
   * Where the last request for a document at this URL was redirected to; the URL itself without redirects. Puppeteer
   * reports a redirect only once the headers of its response have arrived, which may be after the navigation has
   * failed.
   */
  readonly redirectedFrom: (url: string) => string;
}

export interface MessageLimits {
  /** Largest message, bytes. A screenshot of 4 MiB is 5.6 MB as base64. */
  readonly messageBytes: number;
  /** Total size of all messages, bytes. */
  readonly totalBytes: number;
  readonly messages: number;
}

/** Beginnings of messages that a page can cause without bound; these messages are dropped. */
const unread = ['{"method":"Runtime.consoleAPICalled"', '{"method":"Runtime.exceptionThrown"'];

const WEB_SOCKET = '{"method":"Network.webSocketCreated"';
const REQUEST = '{"method":"Network.requestWillBeSent",';
const OF_DOCUMENT = '"type":"Document"';

/**
 * Bounds messages, because pages cause them: console output is dropped before it is parsed, and the pipe is closed if a
 * limit is exceeded.
 *
 * @param onFlood called with the exceeded limit, before the pipe is closed
 * @param onClose called once, whichever side closes
 */
export function pipeTransport(
  toBrowser: Writable,
  fromBrowser: Readable,
  limits: MessageLimits,
  onFlood: (what: string) => void,
  onClose: () => void = () => undefined,
): PipeTransport {
  let [closed, totalBytes, messages, pendingBytes, webSockets] = [false, 0, 0, 0, 0];
  let pending: Buffer[] = [];
  const documents = documentUrls();

  const close = (): void => {
    if (closed) return;
    closed = true;
    pending = [];
    fromBrowser.destroy();
    toBrowser.destroy();
    transport.onclose?.();
    onClose();
  };
  const deliver = (message: Buffer): void => {
    messages += 1;
    const head = message.toString('latin1', 0, 64);
    if (head.startsWith(WEB_SOCKET)) webSockets += 1;
    if (unread.some((start) => head.startsWith(start))) return;
    const text = message.toString('utf8');
    if (head.startsWith(REQUEST) && text.includes(OF_DOCUMENT)) documents.note(text);
    // Each message has a separate callback: a listener that throws must not lose later messages.
    setImmediate(() => (closed ? undefined : transport.onmessage?.(text)));
  };
  const receive = (piece: Buffer): void => {
    totalBytes += piece.length;
    let start = 0;
    for (let end = piece.indexOf(0); end !== -1; end = piece.indexOf(0, start)) {
      deliver(Buffer.concat([...pending, piece.subarray(start, end)]));
      [pending, pendingBytes, start] = [[], 0, end + 1];
    }
    if (start < piece.length) pending.push(piece.subarray(start));
    pendingBytes += piece.length - start;
    const flood = excessOf({ messageBytes: pendingBytes, totalBytes, messages }, limits);
    if (flood === undefined) return;
    onFlood(flood);
    close();
  };

  const transport: PipeTransport = {
    send: (message) => {
      if (!closed) toBrowser.write(`${message}\0`);
      // A sender that sets `onclose` only after the end would otherwise wait for an answer indefinitely.
      else setImmediate(() => transport.onclose?.());
    },
    close,
    isClosed: () => closed,
    webSockets: () => webSockets,
    redirectedFrom: documents.redirectedFrom,
  };
  fromBrowser.on('data', receive).on('close', close).on('error', close);
  toBrowser.on('error', close);
  return transport;
}

/** First and last URL of each request for a document. */
function documentUrls(): { readonly note: (message: string) => void } & Pick<PipeTransport, 'redirectedFrom'> {
  const firstUrls = new Map<string, string>();
  const lastUrls = new Map<string, string>();
  return {
    note: (message) => {
      const { params } = JSON.parse(message) as { params: Protocol.Network.RequestWillBeSentEvent };
      const first = firstUrls.get(params.requestId) ?? params.request.url;
      firstUrls.set(params.requestId, first);
      lastUrls.set(first, params.request.url);
    },
    redirectedFrom: (url) => lastUrls.get(url) ?? url,
  };
}

function excessOf(received: MessageLimits, limits: MessageLimits): string | undefined {
  if (received.messageBytes > limits.messageBytes) return 'one message is too large';
  if (received.totalBytes > limits.totalBytes) return 'the messages are too large';
  return received.messages > limits.messages ? 'there are too many messages' : undefined;
}
