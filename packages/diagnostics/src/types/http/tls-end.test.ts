import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import type { TestContextOptions } from '@vantage/test-support/context';
import { checkOf, problemsOf } from '../../../test/http.ts';
import { startOpensslServer } from '../../../test/openssl-server.ts';
import type { Outcome } from '../../diagnostic.ts';
import type { Http } from './types.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

const HEAD = 'HTTP/1.1 200 OK\nContent-Type: text/plain\n';
const UNTIL_CLOSE = `${HEAD}\none line`;
const VERSIONS = ['-tls1', '-tls1_2', '-tls1_3'];
const COUNTED = `${HEAD}Content-Length: 9\n\none line`;

let mint: CertificateMint;
let certificate: Issued;
const closers: (() => Promise<void>)[] = [];

describeWithOpenssl('an answer that ends with the connection (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    certificate = mint.issue({ subject: '/CN=good.test', names: ['DNS:good.test'] });
  });
  afterAll(() => mint?.close());
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close()));
  });

  it.each(VERSIONS)('is whole over %s where TLS ends with close_notify', async (version) => {
    // The page of `s_server -www` has no Content-Length: it ends with the connection.
    const { port, close } = await startOpensslServer({ certificate, args: ['-www', version] });
    closers.push(close);

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, truncated: false });
    expect(deviationsOf(outcome)).not.toContain('close_notify_missing');
    expect(outcome.headers?.map(([name]) => name)).not.toContain('Content-Length');
  });

  it.each(VERSIONS)('is not known to be whole over %s where it does not', async (version) => {
    const outcome = await brokenOff(version, UNTIL_CLOSE);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 9, truncated: true });
    expect(deviationsOf(outcome)).toEqual(['bare_lf', 'close_notify_missing']);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each(VERSIONS)('is whole by its length, however %s ends', async (version) => {
    const outcome = await brokenOff(version, COUNTED);

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: 9, truncated: false });
    expect(deviationsOf(outcome)).toEqual(['bare_lf']);
  });
});

/**
 * Runs a check against `openssl s_server`, whose standard input is its response; after a kill, the kernel ends the TCP
 * connection.
 */
async function brokenOff(version: string, answer: string): Promise<Outcome<Http>> {
  const { port, output, command, close } = await startOpensslServer({ certificate, args: [version] });
  closers.push(close);
  const headSeen = Promise.withResolvers<void>();
  const outcome = check(port, {
    emitPartial: ({ statusCode }) => (statusCode === undefined ? undefined : headSeen.resolve()),
  });
  while (!output().includes('Connection: close')) await new Promise((resolve) => setTimeout(resolve, 5));
  command(answer);
  await headSeen.promise;
  await close();
  return outcome;
}

function check(port: number, context: TestContextOptions<Http> = {}): Promise<Outcome<Http>> {
  const hosts = { 'good.test': ['127.0.0.1'] };
  return checkOf(`https://good.test:${port}/`, { insecureSSL: true }, { hosts, ...context });
}

function deviationsOf({ deviations = [] }: Outcome<Http>): readonly string[] {
  return deviations.map(({ code }) => code);
}
