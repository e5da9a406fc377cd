import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, it } from '@jest/globals';

const PATIENCE_MS = 300_000;
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const ofTheCoordinator = fileURLToPath(new URL('../../apps/coordinator/src/config/config.ts', import.meta.url));

it(
  'the page comes from its sources, the API from a coordinator that is restarted when a file of it changes',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-dev-'));
    const flags = ['--port', '0', '--probes', '1', '--data', folder];
    const dev = spawn(process.execPath, ['--conditions=vantage-source', main, ...flags], {
      env: { ...process.env, NODE_OPTIONS: '', SCREENSHOTS: 'off' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(dev, 'exit');
    try {
      let printed = '';
      await new Promise<void>((resolve, reject) => {
        dev.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        dev.stdout.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
          if (printed.includes('results?wait=25')) resolve();
        });
        void ended.then(() => reject(new Error(`ended:\n${printed}`)));
      });
      const [, url = ''] = /from their sources: (\S+)$/m.exec(printed) ?? [];
      const textOf = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
      const starts = (): number =>
        readFileSync(join(folder, 'logs/coordinator.log'), 'utf8').match(/Restarting '/g)?.length ?? 0;

      expect(await textOf('/c/qPUXvL1sQx2rGJm0Zf7N4w')).toContain(`content="${url}"`);
      expect(await textOf('/src/main.tsx')).toContain('preact');
      expect(Object.keys(JSON.parse(await textOf('/probes')) as object)).toEqual(['demo-1']);

      const before = starts();
      const now = new Date();
      utimesSync(ofTheCoordinator, now, now);
      while (starts() === before) await sleep(50);
      while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(50);
    } finally {
      dev.kill('SIGINT');
      const [status] = (await ended) as [number | null];
      rmSync(folder, { recursive: true });
      expect(status).toBe(0);
    }
  },
  PATIENCE_MS,
);
