import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { paramsSchema, resultSchema, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';

import { silent } from '../../test/fakes.ts';
import { readMeasuringConfig } from '../config/config.ts';
import { openRuntime } from '../runtime/open-runtime.ts';
import { runFlags } from './read-request.ts';
import { runOnce } from './run-once.ts';

interface Ended {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

type Environment = Readonly<Record<string, string>>;

const MAIN = bundledProgram('probe-agent');
/** Environment without settings of Redis or of a probe. */
const ALLOWED = { TARGET_ALLOW: '127.0.0.0/8' };

/** Runs the real program in a separate process. */
async function agent(args: readonly string[], environment: Environment = ALLOWED): Promise<Ended> {
  return new Promise((resolve) => {
    const env = programEnv(environment);
    execFile(process.execPath, [MAIN, ...args], { env }, (error, output, errors) => {
      resolve({ status: error === null ? 0 : Number(error.code), output, errors });
    });
  });
}

/** Exit status of the real program whose output nothing reads. */
async function statusWithoutReader(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, ['--conditions=vantage-source', MAIN, ...args], { env: programEnv(ALLOWED) });
  child.stdout.destroy();
  const [status] = (await once(child, 'exit')) as [number | null];
  return status;
}

/** Runs in this process. */
async function run(
  args: readonly string[],
  environment: Environment = ALLOWED,
  { signal }: Pick<AbortController, 'signal'> = new AbortController(),
): Promise<Ended> {
  let [output, errors] = ['', ''];
  const status = await runOnce(args, {
    config: readMeasuringConfig(environment),
    openRuntime,
    log: silent,
    output: { write: (text) => (output += text) },
    errors: { write: (text) => (errors += text) },
    signal,
  });
  return { status, output, errors };
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

  it('is run without Redis, with the result that the API would give of this probe', async () => {
    const args = ['run', 'tcp', '127.0.0.1', String(port), '--attempts', '2', '--json', '--verbose'];
    const { status, output, errors } = await agent(args);

    const result: unknown = JSON.parse(output);
    const ajv = new Ajv({ validateFormats: false });
    expect(ajv.validate(resultSchema(checkTypes.tcp as AnyCheckType), result)).toBe(true);
    expect(result).toMatchObject({
      result: 'success',
      state: 'open',
      port,
      attempts: [{ error: null }, { error: null }],
    });
    // The calls of the run are on standard error, apart from the result.
    expect(errors).toMatch(
      new RegExp(`^ +[\\d.]+ ms {2}admit 127\\.0\\.0\\.1 port ${port} for tcp: 127\\.0\\.0\\.1 of`),
    );
    expect(status).toBe(0);
  });

  it('shows its result in lines', async () => {
    const { status, output, errors } = await run(['tcp', '127.0.0.1', '--port', String(port)]);

    // On a busy machine the process may stall.
    expect(output).toMatch(
      /^success {2}127\.0\.0\.1, open, [\d.]+ ms, 3 attempts(?:, the probe stood still for .+)?\n$/,
    );
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
  });

  it('is refused what the agent would refuse, and ends with a status that says so', async () => {
    const { status, output } = await run(['tcp', '127.0.0.1', String(port)], {});

    expect(output).toMatch(/^error {2}.*\(target_refused_by_policy\)\n$/);
    expect(status).toBe(4);
  });

  it('ends as other programs do on Ctrl-C, and if nothing reads its output', async () => {
    const args = ['run', 'tcp', '127.0.0.1', String(port)];
    const interrupted = { signal: AbortSignal.abort() };

    expect((await run(args.slice(1), ALLOWED, interrupted)).status).toBe(130);
    expect(await statusWithoutReader(args)).toBe(141);
  });

  it('has a separate exit status for a target that fails', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port: closedPort } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');

    const { status, output } = await run(['tcp', '127.0.0.1', String(closedPort)]);

    expect(output).toMatch(/^failure {2}.*closed/);
    expect(status).toBe(1);
  });

  it.each([
    [['tpc', 'x'], /unknown check type "tpc"; expected one of dns, /],
    [
      ['tcp', '127.0.0.1'],
      /missing PORT; expected tcp 127\.0\.0\.1 PORT\nRun "vantage-agent run tcp --help" for usage/,
    ],
    [['ping', '127.0.0.1', '--count', '200'], /--count must be <= 16/],
    [
      ['udp', '127.0.0.1', '7', '--payload', 'xyz'],
      /--payload must be pairs of hexadecimal digits, such as 68656c6c6f/,
    ],
    [['ping', 'not a host'], /contains a blank, which no host name has/],
    [['ping', '::1', '--family', '4'], /family/i],
  ])('says what is wrong with “%j”', async (args, said) => {
    const { status, output, errors } = await run(args);

    expect(errors).toMatch(said);
    expect({ status, output }).toEqual({ status: 2, output: '' });
  });

  it('says what is wrong with a command and with a setting', async () => {
    const [unknown, setting] = await Promise.all([
      agent(['fly']),
      agent(['run', 'ping', '127.0.0.1'], { TARGET_ALLOW: '300.1.1.1/8' }),
    ]);

    expect(unknown).toMatchObject({
      status: 2,
      output: '',
      errors: expect.stringContaining('unknown command "fly"; expected run'),
    });
    expect(setting.errors).toMatch(/TARGET_ALLOW .*300\.1\.1\.1\/8/);
    expect(setting.status).toBe(2);
  });

  it('has no flag named like an option, which it would hide or set', () => {
    const options = Object.values<AnyCheckType>(checkTypes).flatMap((checkType) =>
      Object.keys(
        (paramsSchema(checkType) as { properties: { options: { properties: object } } }).properties.options.properties,
      ),
    );

    expect(options).toContain('trace');
    expect(Object.keys(runFlags).filter((flag) => options.includes(flag))).toEqual([]);
  });

  it('has help for itself and for each type', async () => {
    expect((await run(['--help'])).output).toMatch(/without Redis.*traceroute/s);
    expect((await run(['dns', '--help'])).output).toMatch(/vantage-agent run dns NAME .*--trace.*--verbose/s);
    for (const type of Object.keys(checkTypes)) {
      expect((await run([type, '--help'])).output).toContain(`vantage-agent run ${type} `);
    }
  });
});
