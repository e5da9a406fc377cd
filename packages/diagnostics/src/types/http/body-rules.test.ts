import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testContext } from '@vantage/test-support/context';

import { paramsOf, problemsOf } from '../../../test/http.ts';
import type { Outcome } from '../../diagnostic.ts';
import type { http } from './contract.ts';
import { runHttp } from './run.ts';

const server = createServer((request, response) => {
  if (request.url === '/redirect') response.writeHead(302, { Location: '/' }).end('moved');
  else if (request.url === '/long') response.end(`${'x'.repeat(200_000)}end`);
  else response.end('Es grünt.');
});
let base: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

type Http = typeof http;
type Options = Parameters<typeof paramsOf>[1];

function run(path: string, body: readonly string[] | undefined, options: Options = {}): Promise<Outcome<Http>> {
  const params = { ...paramsOf(`${base}${path}`, options), ...(body === undefined ? {} : { rules: { body } }) };
  return runHttp(params, testContext<Http>());
}

describe('the expressions of a module', () => {
  it('are compared with the body, each for itself', async () => {
    const outcome = await run('/', ['gr.nt', '^Hello', String.raw`\.$`]);
    expect(outcome.bodyMatches).toEqual([true, false, true]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('are compared with the body after a redirect, not with that of the redirect', async () => {
    const outcome = await run('/redirect', ['moved', 'Es'], { options: { followRedirects: 3 } });
    expect(outcome.bodyMatches).toEqual([false, true]);
  });

  it('see the bytes that were read and no more', async () => {
    const outcome = await run('/long', ['end$', '^x+$'], { options: { maxBodyBytes: 1_000 } });
    expect(outcome).toMatchObject({ bodyMatches: [false, true], truncated: true, bodyBytes: 1_000 });
  });

  it('leave no field without a response, and none without expressions', async () => {
    expect(await run('/', undefined)).not.toHaveProperty('bodyMatches');
    const params = { ...paramsOf('http://127.0.0.1:1/'), rules: { body: ['a'] } };
    expect(await runHttp(params, testContext<Http>())).not.toHaveProperty('bodyMatches');
  });

  it('that cannot be read make a job that is not valid', async () => {
    expect(await run('/', ['('])).toMatchObject({ result: 'error', error: { code: 'invalid_job', source: 'probe' } });
  });
});
