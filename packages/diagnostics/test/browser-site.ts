import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import type { Admit, AdmissionRequest } from '@vantage/contract';

import { startServer } from './loopback.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback under a name that only its own admission knows. */
export interface Site {
  readonly port: number;
  /** `http://page.test:<port>` */
  readonly origin: string;
  /** Paths that were asked for, in order. */
  readonly paths: readonly string[];
  readonly close: () => Promise<void>;
}

/** Serves pages by path; a text is an HTML page, what is not there is 404. */
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
  const { port, close } = await startServer(server, host);
  return { port, origin: `http://page.test:${port}`, paths, close };
}

/**
 * An admission that knows `*.test` and `*.localhost` alone, at one address and on the given ports, and refuses everything else.
 *
 * @param asked gets every request
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
