import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { expect, it } from '@jest/globals';

it('reports what it saw although a result cannot be read at once', async () => {
  let checks = 0;
  let readings = 0;
  const service = createServer((request, response) => {
    const isReading = request.url?.endsWith('/results') === true;
    readings += isReading ? 1 : 0;
    if (isReading && readings <= 2) {
      request.socket.destroy();
      return;
    }
    const started = request.method === 'POST' ? { checkId: `check-${(checks += 1)}` } : undefined;
    response.writeHead(started === undefined ? 200 : 202, { 'content-type': 'application/json' });
    response.end(JSON.stringify(started ?? { status: 'completed' }));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  const file = fileURLToPath(new URL('watch-service.mjs', import.meta.url));
  const watch = spawn(process.execPath, [file, `http://127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  const output = text(watch.stdout);
  const ended = once(watch, 'exit');
  while (checks < 2) await once(service, 'request');

  watch.kill('SIGINT');
  const [code] = (await ended) as [number];
  service.close();

  expect(code).toBe(0);
  expect(JSON.parse(await output)).toMatchObject({ accepted: checks, lost: [], unanswered: [] });
});
