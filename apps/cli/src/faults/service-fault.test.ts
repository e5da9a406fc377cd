import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { selfSigned } from '@vantage/test-support/programs/self-signed';

import { readConfig } from '../config.ts';
import { runCli } from '../run.ts';
import { serviceFault } from './service-fault.ts';

async function errorsFrom(
  server: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly [number, string]> {
  let errors = '';
  const status = await runCli(['me'], {
    config: readConfig({ ...env, VANTAGE_URL: server }, false),
    version: '0.0.0',
    output: { write: () => true },
    errors: { write: (text: string | Uint8Array) => ((errors += String(text)), true) },
    signal: new AbortController().signal,
  });
  return [status, errors];
}

async function withServer(answer: RequestListener, use: (host: string) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const notFound = { type: 'http://127.0.0.1/problems/not-found', status: 404, title: 'X', detail: 'There is nothing.' };

describe('the message about a service', () => {
  it.each<[string, RequestListener, RegExp]>([
    [
      'another page',
      (_, response) => response.end('<h1>hello</h1>'),
      /^\S+ answers, but not as a Vantage service\. Name another/,
    ],
    [
      'an error page',
      (_, response) => response.writeHead(404).end('<h1>no</h1>'),
      /^\S+ answers with status 404, but not as a Vantage service/,
    ],
    ['a dropped connection', ({ socket }) => socket.destroy(), /is unreachable: other side closed\.$/],
  ])('tells %s', async (_reason, answer, expected) => {
    await withServer(answer, async (host) => {
      const [status, errors] = await errorsFrom(`http://${host}`);

      expect(errors.trimEnd()).toMatch(expected);
      expect(errors).toContain(host);
      expect(status).toBe(3);
    });
  });

  it('names the address of the service if a path of one was given', async () => {
    await withServer(
      (_, response) =>
        response.writeHead(404, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(notFound)),
      async (host) => {
        expect((await errorsFrom(`http://${host}/docs`))[1]).toContain(`did you mean --server http://${host}?`);
        expect((await errorsFrom(`http://${host}`))[1]).toBe('There is nothing.\n');
      },
    );
  });

  it('says that web clients refuse the port', async () => {
    expect((await errorsFrom('http://127.0.0.1:1'))[1]).toMatch(
      /is unreachable: web clients refuse port 1,.* Name another/,
    );
  });

  it('offers http if the service does not speak TLS', async () => {
    await withServer(
      (_, response) => response.end(),
      async (host) => {
        expect((await errorsFrom(`https://${host}`))[1]).toContain(`did you mean --server http://${host}?`);
      },
    );
  });

  it('names the variable for a CA if that of the service is unknown', async () => {
    const pem = selfSigned();
    const server = createTlsServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const [status, errors] = await errorsFrom(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();

    expect(status).toBe(3);
    expect(errors).toContain('is not trusted; set NODE_EXTRA_CA_CERTS to a file with that CA');
    expect(errors).not.toContain('system-ca');
  });

  it('says how to start one', async () => {
    let gone = '';
    await withServer(
      () => undefined,
      async (host) => void (gone = host),
    );

    expect(await errorsFrom(`http://${gone}`)).toEqual([
      3,
      expect.stringMatching(/ECONNREFUSED.*"npm start".*--server/),
    ]);
  });

  it.each([
    ['that is used', { HTTP_PROXY: 'x', NODE_USE_ENV_PROXY: '1' }, 'It was asked through the proxy in HTTP_PROXY'],
    [
      'that a flag of Node uses',
      { HTTP_PROXY: 'x', NODE_OPTIONS: '--use-env-proxy' },
      'through the proxy in HTTP_PROXY',
    ],
    ['for https alone', { HTTPS_PROXY: 'x' }, ''],
    ['in an empty variable', { HTTP_PROXY: '' }, ''],
  ])('says what a proxy %s has to do with it', async (_reason, env, note) => {
    const [, errors] = await errorsFrom('http://127.0.0.1:1', env);

    expect(errors).toContain(note);
    expect(errors.includes('_PROXY')).toBe(note !== '');
  });

  it('ends a reason with one full stop', () => {
    const cancelled = new TypeError('fetch failed', { cause: new Error('Request was cancelled.') });

    expect(serviceFault(cancelled, 'http://a')).toBe('http://a is unreachable: Request was cancelled.');
  });

  it('names a parameter of the path by the word of the command line', async () => {
    const errors = [{ path: '{name}', message: 'must be 1 to 63 characters' }];
    const body = JSON.stringify({ ...notFound, status: 400, detail: '{name}: must be 1 to 63 characters', errors });
    await withServer(
      (_, response) => response.writeHead(400, { 'Content-Type': 'application/problem+json' }).end(body),
      async (host) => expect(await errorsFrom(`http://${host}`)).toEqual([2, 'NAME: must be 1 to 63 characters\n']),
    );
  });

  it.each([
    ['127.0.0.1:8080', '; did you mean "http://127.0.0.1:8080"?'],
    ['localhost', '; did you mean "http://localhost"?'],
    ['[::1]:8080/api', '; did you mean "http://[::1]:8080/api"?'],
    ['ftp://example.com', 'expected an http or https URL\n'],
    ['a b', 'expected an http or https URL\n'],
  ])('offers the scheme that %s lacks', async (text, end) => {
    const [status, errors] = await errorsFrom(text);

    expect(errors.trimEnd().endsWith(end.trimEnd())).toBe(true);
    expect(status).toBe(2);
  });
});
