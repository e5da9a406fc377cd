import { afterEach, describe, expect, it } from '@jest/globals';
import { servers } from '@vantage/test-support/loopback';
import { itNeeding } from '@vantage/test-support/needs';
import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import { promisify } from 'node:util';

import { closedPort } from '../../../../test/closed-port.ts';
import { checkOf, problemsOf } from '../../../../test/http.ts';
import { curlVersion } from '../../../../test/second-opinions.ts';

const run = promisify(execFile);
const itWithCurl = itNeeding(curlVersion() === null ? 'curl not found' : null, process.env['CI']);
const { start, closeAll } = servers();
afterEach(closeAll);

/** A server that answers `/fails` with 503, and any other path with a redirect. */
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

describe('redirects', () => {
  /** Body, status and number of redirects. */
  const curl = async (port: number): Promise<string> =>
    (await run('curl', ['-sL', '-w', ' %{http_code} %{num_redirects}', `http://127.0.0.1:${port}/`])).stdout;
  const listen = (listener: RequestListener): Promise<number> => start(createServer(listener));

  itWithCurl('are followed back to a page that answers the second time, as by curl and browsers', async () => {
    const asked: string[] = [];
    const port = await listen(({ url = '' }, response) => {
      asked.push(url);
      if (url === '/gate') response.writeHead(307, { location: '/' }).end();
      else if (!asked.includes('/gate')) response.writeHead(307, { location: '/gate' }).end();
      else response.end('there');
    });
    expect(await curl(port)).toBe('there 200 2');
    asked.length = 0;

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 10 } });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 5 });
    expect(outcome.redirects).toHaveLength(2);
    expect(problemsOf(outcome)).toEqual([]);
  });

  itWithCurl('end with an empty Location, which curl and browsers ignore', async () => {
    const port = await listen((_request, response) => response.writeHead(302, { location: '' }).end('here'));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 10 } });

    expect(await curl(port)).toBe('here 302 0');
    expect(outcome).toMatchObject({ result: 'success', statusCode: 302, bodyBytes: 4, redirects: [] });
  });
});
