import { afterEach, describe, expect, it } from '@jest/globals';
import { servers } from '@vantage/test-support/loopback';
import { createServer } from 'node:http';

import { closedPort } from '../../../test/closed-port.ts';
import { checkOf, problemsOf } from '../../../test/http.ts';

const { start, closeAll } = servers();
afterEach(closeAll);

/** A server whose answer to `/` redirects, and to `/fails` is 503. */
function serve(location: string): Promise<number> {
  return start(
    createServer((request, response) =>
      request.url === '/fails' ? response.writeHead(503).end() : response.writeHead(302, { Location: location }).end(),
    ),
  );
}

const following = { options: { followRedirects: 3 } };

describe('a failure behind a redirect', () => {
  it('names the place that the redirect leads to', async () => {
    const closed = await closedPort();
    const port = await serve(`http://127.0.0.1:${closed.port}/`);

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, following);
    await closed.close();

    expect(outcome.error).toMatchObject({
      code: 'connection_refused',
      message: `The target refused the connection. This was at http://127.0.0.1:${closed.port}, to which it redirects.`,
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is that of the target if the redirect stays there', async () => {
    const port = await serve('/fails');

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, following);

    expect(outcome.error).toMatchObject({ code: 'http_status', message: 'The target answered with status 503.' });
  });
});
