import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { resultSchema, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';

interface Ended {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

const MAIN = new URL('../main.ts', import.meta.url).pathname;
/** Neither of Redis nor of a probe. */
const ALLOWED = { TARGET_ALLOW: '127.0.0.0/8' };

/** The real program, in a process of its own. */
async function agent(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = ALLOWED,
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], ...environment };
    execFile(process.execPath, ['--conditions=source', MAIN, ...words], { env }, (error, output, errors) => {
      const status = error === null ? 0 : Number(error.code);
      resolve({ status, output, errors });
    });
  });
}

describe('one check from the shell of the probe’s machine', () => {
  const server = createServer((socket) => socket.on('error', () => undefined).end());
  let port = 0;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(() => void server.close());

  it('is run without Redis, its result in lines', async () => {
    const { status, output, errors } = await agent(['run', 'tcp', '127.0.0.1', '--port', String(port)]);

    expect(output).toMatch(/^success {2}127\.0\.0\.1, open, [\d.]+ ms, 3 attempts\n$/);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
  });

  it('gives the result that the API would give of this probe', async () => {
    const { status, output } = await agent(['run', 'tcp', '127.0.0.1', String(port), '--attempts', '2', '--json']);

    const result: unknown = JSON.parse(output);
    expect(new Ajv({ validateFormats: false }).validate(resultSchema(checkTypes.tcp as AnyCheckType), result)).toBe(
      true,
    );
    expect(result).toMatchObject({
      result: 'success',
      state: 'open',
      port,
      attempts: [{ error: null }, { error: null }],
    });
    expect(status).toBe(0);
  });

  it('tells with --trace what the run asks for, apart from its result', async () => {
    const { output, errors } = await agent(['run', 'tcp', '127.0.0.1', String(port), '--json', '--trace']);

    expect(errors).toMatch(
      new RegExp(`^ +[\\d.]+ ms {2}admit 127\\.0\\.0\\.1 port ${port} for tcp: 127\\.0\\.0\\.1 of`),
    );
    expect(JSON.parse(output)).toMatchObject({ state: 'open' });
  });

  it('is refused what the agent would refuse, and ends with a status that says so', async () => {
    const { status, output } = await agent(['run', 'tcp', '127.0.0.1', String(port)], {});

    expect(output).toMatch(/^error {2}.*\(target_refused_by_policy\)\n$/);
    expect(status).toBe(4);
  });

  it('has a status of its own for a target that fails', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port: closedPort } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');

    const { status, output } = await agent(['run', 'tcp', '127.0.0.1', String(closedPort)]);

    expect(output).toMatch(/^failure {2}.*closed/);
    expect(status).toBe(1);
  });

  it.each([
    [['run', 'tpc', 'x'], /“tpc” is no check type\. There are: dns, /],
    [['run', 'tcp', '127.0.0.1'], /tcp needs a port: tcp 127\.0\.0\.1 PORT\nvantage-agent run tcp --help says more/],
    [['run', 'ping', '127.0.0.1', '--count', '200'], /--count must be <= 16/],
    [['run', 'ping', 'not a host'], /character/],
    [['run', 'ping', '::1', '--family', '4'], /family/i],
    [['fly'], /“fly” is no command\./],
  ])('says what is wrong with “%j”', async (words, said) => {
    const { status, output, errors } = await agent(words);

    expect(errors).toMatch(said);
    expect({ status, output }).toEqual({ status: 2, output: '' });
  });

  it('says which setting is wrong', async () => {
    const { status, errors } = await agent(['run', 'ping', '127.0.0.1'], { TARGET_ALLOW: '300.1.1.1/8' });

    expect(errors).toMatch(/TARGET_ALLOW .*300\.1\.1\.1\/8/);
    expect(status).toBe(1);
  });

  it('has help for itself and for each type', async () => {
    expect((await agent(['run', '--help'])).output).toMatch(/without Redis.*traceroute/s);
    expect((await agent(['run', 'dns', '--help'])).output).toMatch(/vantage-agent run dns NAME .*--trace/s);
  });
});
