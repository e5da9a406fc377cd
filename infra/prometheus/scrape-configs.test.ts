import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect } from '@jest/globals';

import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

const itWithPromtool = itNeeding(await packagesMissing(['prometheus']), process.env['CI']);

/** The YAML blocks of the documentation that are for Prometheus; others are files of modules. */
function configurations(): readonly string[] {
  const pages = ['prometheus', 'operations'];
  const page = pages.map((name) => readFileSync(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8')).join('\n');
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
  return blocks.filter((text) => text.startsWith('scrape_configs:'));
}

/** A service that hands over each request for targets, and lists one. */
async function startService(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[{"targets":["127.0.0.1:1"]}]');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const run = promisify(execFile);

describe('the scrape configurations of the documentation', () => {
  itWithPromtool('pass promtool', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const folder = mkdtempSync(join(tmpdir(), 'vantage-scrapes-'));
    try {
      const blocks = configurations();
      expect(blocks.length).toBeGreaterThanOrEqual(3);
      for (const [index, text] of blocks.entries()) {
        const file = join(folder, `${index}.yml`);
        // Replaces the key file, which only an operator has.
        writeFileSync(file, text.replace(/credentials_file: .*/, `credentials_file: ${folder}/key`));
        writeFileSync(join(folder, 'key'), 'vtg_x');
        const check = run(program('promtool'), ['check', 'config', file], { env: environment });
        expect((await check).stdout).toContain('is valid prometheus config');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  itWithPromtool('ask for targets with the key as a bearer token', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const folder = mkdtempSync(join(tmpdir(), 'vantage-scrapes-'));
    const { server, url } = await startService();
    try {
      writeFileSync(join(folder, 'key'), 'vtg_x');
      const asked: unknown[] = [];
      for (const text of configurations().filter((block) => block.includes('http_sd_configs:'))) {
        const file = join(folder, 'prometheus.yml');
        const here = text
          .replace(/credentials_file: .*/, `credentials_file: ${folder}/key`)
          .replace(/url: https?:\/\/[^/]+/, `url: ${url}`);
        writeFileSync(file, here);
        const job = /job_name: (\S+)/.exec(text)![1]!;
        // promtool waits for its whole timeout after the answer: it is ended once it has asked.
        const abort = new AbortController();
        const options = { env: environment, signal: abort.signal };
        const promtool = run(program('promtool'), ['check', 'service-discovery', file, job], options);
        const [request] = (await Promise.race([once(server, 'request'), promtool])) as [IncomingMessage];
        asked.push([request.url!.split('?')[0], request.headers.authorization]);
        abort.abort();
        await promtool.catch(() => undefined);
      }
      expect(asked).toEqual([
        ['/sd', 'Bearer vtg_x'],
        ['/sd/agents', 'Bearer vtg_x'],
      ]);
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
