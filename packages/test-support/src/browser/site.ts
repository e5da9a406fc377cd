import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Admit, AdmissionRequest } from '@vantage/contract';

import { startServer } from '../loopback.ts';

/** Path of the WebSocket of every site. */
export const WEB_SOCKET_PATH = '/socket';
/** GUID of the WebSocket handshake (RFC 6455 section 1.3). */
const WEB_SOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback, whose name only `admitSite` resolves. */
export interface Site {
  readonly port: number;
  /** `http://page.test:<port>` */
  readonly origin: string;
  /** Requested paths, in order. */
  readonly paths: readonly string[];
  readonly close: () => Promise<void>;
}

/** Accepts a WebSocket, and sends it a single message after `messageAfterMs`. */
function openWebSocket(request: IncomingMessage, socket: Duplex, messageAfterMs: number): void {
  const key = `${request.headers['sec-websocket-key']}${WEB_SOCKET_GUID}`;
  const accept = createHash('sha1').update(key).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.on('error', () => undefined);
  socket.write(`${[...head, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`);
  // A text frame of one letter.
  setTimeout(() => socket.write(Buffer.of(0x81, 1, 0x78)), messageAfterMs);
}

/** Serves pages by path; text is served as a script if the path ends in `.js`, else as HTML; unknown paths get 404. */
export async function startSite(pages: Readonly<Record<string, string | Serve>>, host = '127.0.0.1'): Promise<Site> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    paths.push(path);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (typeof page === 'function') return page(request, response);
    if (page === undefined) return void response.writeHead(404).end();
    response.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(page);
  });
  server.on('upgrade', (request, socket) => {
    if (request.url === WEB_SOCKET_PATH) openWebSocket(request, socket, 600);
    else socket.destroy();
  });
  const { port, close } = await startServer(server, host);
  return { port, origin: `http://page.test:${port}`, paths, close };
}

/**
 * An admission that admits only `*.test` and `*.localhost`, at one address and on the given ports.
 *
 * @param asked collects every request
 */
export function admitSite(ports: readonly number[], asked: AdmissionRequest[] = [], address = '127.0.0.1'): Admit {
  return async (request) => {
    asked.push(request);
    if (/\.(test|localhost)$/.test(request.host) && ports.includes(request.port ?? 0)) {
      const target = { host: request.host, address, family: 4, addresses: [address], resolveMs: 0 } as const;
      return { admitted: true, target };
    }
    const message = `The test refuses ${request.host}.`;
    const failure = { code: 'target_refused_by_policy', phase: 'resolve', source: 'probe', message } as const;
    return { admitted: false, failure, addresses: [], resolveMs: 0 };
  };
}
