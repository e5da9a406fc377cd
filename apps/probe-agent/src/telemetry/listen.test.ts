import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { MetricsServer } from '@vantage/telemetry';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';

import { listen } from './listen.ts';

const healthy = join(import.meta.dirname, '../../../../infra/docker/healthy.mjs');
const host = '127.0.0.1';

let folder: string;
let servers: MetricsServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-listen-'));
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
  rmSync(folder, { recursive: true });
});

async function open(metricsPort: number, metricsPortFile?: string, missing: readonly string[] = []): Promise<number> {
  const metrics = { contentType: 'text/plain', scrape: async () => '' };
  const where = { metricsHost: host, metricsPort, metricsPortFile };
  const server = await listen(where, { metrics, missing: () => missing }, pino({ level: 'silent' }));
  servers.push(server);
  return server.port;
}

/** Exit status of the container's health check. */
async function health(port: number, file: string): Promise<number> {
  const env = { METRICS_PORT: String(port), METRICS_HOST: host, METRICS_PORT_FILE: file };
  const args = [healthy, 'METRICS_PORT', 'METRICS_HOST', '/readyz', 'METRICS_PORT_FILE'];
  const run = promisify(execFile)(process.execPath, args, { env });
  return run.then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  );
}

it('a taken metrics port lets the agent start on a free one, which its health check asks', async () => {
  const file = join(folder, 'port');
  const taken = await open(0);

  const port = await open(taken, file, ['The agent starts.']);

  expect(port).not.toBe(taken);
  expect(readFileSync(file, 'utf8')).toBe(String(port));
  // The other process is ready, this one is not.
  expect(await health(taken, file)).toBe(1);
  expect(await health(taken, join(folder, 'none'))).toBe(0);
});

it('a file that cannot be written does not end the agent', async () => {
  expect(await open(0, join(folder, 'none', 'port'))).toBeGreaterThan(0);
});

it('an address of another machine is refused', async () => {
  const metrics = { contentType: 'text/plain', scrape: async () => '' };
  const where = { metricsHost: '192.0.2.99', metricsPort: 0, metricsPortFile: undefined };

  await expect(listen(where, { metrics, missing: () => [] }, pino({ level: 'silent' }))).rejects.toThrow(
    'EADDRNOTAVAIL',
  );
});
