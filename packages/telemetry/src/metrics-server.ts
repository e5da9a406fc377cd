import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { MetricDeclarations } from './declarations.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly metrics: Pick<Metrics<MetricDeclarations>, 'scrape' | 'contentType'>;
  /** What keeps the process from its work now, in words; empty when nothing does. */
  readonly missing: () => readonly string[];
}

/**
 * Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (503 while something is missing). It knows no callers
 * and has no limits: it belongs on a private address.
 *
 * @throws the error of the operating system when the port cannot be had
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
  // A scraper of its own network, and a person with curl.
  server.maxConnections = 64;
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
