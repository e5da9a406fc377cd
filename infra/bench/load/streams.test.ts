import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { openStreams } from './streams.ts';

describe('the event streams of a benchmark', () => {
  it('count as completed only with the event that says so', async () => {
    let streams = 0;
    const server = createServer((request, response) => {
      if (request.method === 'POST') {
        response.writeHead(202, { 'content-type': 'application/json' }).end('{"checkId":"1"}');
        return;
      }
      streams += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (streams % 2 === 0) response.write('id: 2\nevent: completed\ndata: {}\n\n');
      else response.end('id: 1\nevent: result\ndata: {}\n\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');

    const figures = await openStreams(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 4);
    server.closeAllConnections();
    server.close();

    expect(figures).toMatchObject({ opened: 4, completed: 2 });
  });
});
