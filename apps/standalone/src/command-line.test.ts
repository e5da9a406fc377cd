import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { startTargets, type Targets } from '../test/targets.ts';

const program = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));
const admin = fileURLToPath(new URL('../../coordinator/src/admin/main.ts', import.meta.url));

interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

describe('vantage on the command line', () => {
  const data = temporaryFolder();
  let targets: Targets;
  let service: Service;

  beforeAll(async () => {
    targets = await startTargets(data.folder);
    service = await startService(`${data.folder}/data`, ['--probes', '2', '--allow', '127.0.0.0/8'], {
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
      RATE_LIMIT_CHECK: '100000',
      RATE_LIMIT_RESULTS: '100000',
    });
  }, 300_000);

  afterAll(async () => {
    await service?.stop();
    targets?.close();
    data.remove();
  }, 120_000);

  function vantage(...words: readonly string[]): Promise<Ran> {
    return run(program, words, { VANTAGE_URL: service.url });
  }

  async function run(file: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
    const child = spawn(process.execPath, ['--conditions=vantage-source', file, ...words], {
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, output, errors };
  }

  it('shows what each probe measured, and what it means', async () => {
    const { status, output } = await vantage('tcp', '127.0.0.1', String(targets.tcpPort), '--attempts', '1');

    expect(output).toMatch(/^demo-1 +Demo datacenter 1, QM +success +127\.0\.0\.1, open, [\d.]+ ms$/m);
    expect(output).toMatch(/^demo-2 /m);
    expect(output).toMatch(/^up  /m);
    expect(output).toMatch(/^vantage show [\w-]{22}$/m);
    expect(status).toBe(0);
  }, 120_000);

  it.each<[string, () => readonly string[], RegExp]>([
    ['dns', () => ['www.example.com'], /NOERROR, 1 answer/],
    ['http', () => [`http://127.0.0.1:${targets.httpPort}/`, '--no-screenshot'], /200 OK, HTTP\/1\.1/],
    ['udp', () => ['127.0.0.1', String(targets.udpPort)], /open/],
    ['info', () => ['127.0.0.1'], /127\.0\.0\.1/],
  ])(
    'runs a %s check',
    async (type, words, expected) => {
      const { status, output } = await vantage(type, ...words());

      expect(output).toMatch(expected);
      expect(status).toBe(0);
    },
    120_000,
  );

  it('gives the whole answer as JSON', async () => {
    const { status, output } = await vantage(
      'tcp',
      '127.0.0.1',
      String(targets.tcpPort),
      '--json',
      '--probes',
      'demo-2',
    );

    expect(JSON.parse(output)).toMatchObject({ status: 'completed', results: { 'demo-2': { result: 'success' } } });
    expect(status).toBe(0);
  }, 120_000);

  it('shows a check again', async () => {
    const first = await vantage('dns', 'missing.example.com', '--json');
    const { testId } = JSON.parse(first.output) as Check;

    const again = await vantage('show', testId);

    expect(first.status).toBe(1);
    expect(again.status).toBe(1);
    expect(again.output).toContain('NXDOMAIN');
  }, 120_000);

  it('says which field the service refuses, and why', async () => {
    const { status, errors } = await vantage('ping', '127.0.0.1', '--count', '99');

    expect(errors).toContain('--count: must be <= 16');
    expect(status).toBe(2);
  }, 120_000);

  it('says that the target is refused', async () => {
    const { status, errors } = await vantage('ping', '10.0.0.1');

    expect(errors).toContain('10.0.0.0/8');
    expect(status).toBe(2);
  }, 120_000);

  it('lists the probes, and shows the caller', async () => {
    expect((await vantage('probes')).output).toMatch(/^demo-1 +(healthy|degraded) /m);
    expect((await vantage('me')).output).toMatch(/^ip +127\.0\.0\.1$/m);
  }, 120_000);

  it('starts a service with which doctor finds no fault', async () => {
    const { output } = await run(admin, ['doctor', '--data', `${data.folder}/data`, '--json'], { VANTAGE_URL: '' });

    const { findings } = JSON.parse(output) as { findings: { check: string; status: string }[] };
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['redis.memory', 'redis.output-buffers', 'probes', 'service.gateway']),
    );
    // The age of the geo data and the room on the disk are not the service's.
    expect(findings.filter(({ check, status }) => status !== 'ok' && !/^(geo|disk)$/.test(check))).toEqual([]);
  }, 120_000);

  it('says which address it cannot reach', async () => {
    const { status, errors } = await vantage('me', '--server', 'http://127.0.0.1:1');

    expect(errors).toContain('http://127.0.0.1:1 is unreachable');
    expect(status).toBe(3);
  }, 120_000);
});
