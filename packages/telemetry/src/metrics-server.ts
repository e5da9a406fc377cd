import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { MetricDeclarations } from './declarations.ts';
import type { Metrics } from './metrics.ts';

// An import of `node:http` reads each of its exports, and one of them loads Node's fetch, which takes memory.
const { createServer } = process.getBuiltinModule('node:http');

export interface MetricsServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics: Pick<Metrics<MetricDeclarations>, 'scrape' | 'contentType'>;
  /** Reasons why the process is not ready; empty if it is. */
  readonly missing: () => readonly string[];
}

/**
 * Serves `/metrics`, `/healthz` (the process responds) and `/readyz` (503 while not ready). It has no authentication
 * and no rate limit: bind it to a private address.
 *
 * @throws the operating system's error if the port is unavailable
 */
export async function serveMetrics({ host, port, metrics, missing }: MetricsServerOptions): Promise<MetricsServer> {
  const answer = async ({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = url.split('?', 1)[0];
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'Only GET.\n');
    if (path === '/healthz') return send(response, 200, 'ok\n');
    if (path === '/readyz') {
      const faults = missing();
      return send(response, faults.length === 0 ? 200 : 503, `${faults.join('\n') || 'ok'}\n`);
    }
    if (path !== '/metrics') return send(response, 404, 'There is /metrics, /healthz and /readyz.\n');
    return send(response, 200, await metrics.scrape(), metrics.contentType);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  // Enough for scrapers and a person with curl; bounds memory.
  server.maxConnections = 64;
  // A client that sends many requests on a connection and reads nothing gets one scrape; Node refuses the others.
  server.maxRequestsPerSocket = 1;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}
