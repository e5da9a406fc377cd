import { execFile } from 'node:child_process';

import { programEnv } from '@vantage/test-support/programs/program-env';
import { expect, it } from '@jest/globals';

const NAME = 'www.wikipedia.org';
const checks = [
  ['tcp', '127.0.0.1', '9'],
  ['udp', '127.0.0.1', '9'],
  // No query for the name leaves the machine: it would need a local port.
  ['tcp', NAME, '9'],
  ['dns', NAME],
  ['dns', NAME, '--resolver', NAME],
] as const;

const imported = (file: string): string => `await import(${JSON.stringify(new URL(file, import.meta.url).href)})`;
/** Takes the only local port, for TCP and UDP, then prints the result of each check. */
const program = `
  import { createSocket } from 'node:dgram';
  import { once } from 'node:events';
  import { createServer } from 'node:net';
  await once(createServer().listen(40_000, '0.0.0.0'), 'listening');
  await once(createSocket('udp4').bind(40_000), 'listening');
  const { runOnce } = ${imported('run-once.ts')};
  const { readMeasuringConfig } = ${imported('../config/config.ts')};
  const { openRuntime } = ${imported('../runtime/open-runtime.ts')};
  const { silent } = ${imported('../../test/fakes.ts')};
  const config = readMeasuringConfig({ TARGET_ALLOW: '127.0.0.0/8', DNS_SERVERS: '127.0.0.1' });
  const { signal } = new AbortController();
  const options = { config, openRuntime, log: silent, errors: process.stderr, signal };
  const output = { write: (text) => process.stdout.write(text.replaceAll('\\n', '')) };
  for (const check of ${JSON.stringify(checks)}) {
    await runOnce([...check, '--json'], { ...options, output });
    process.stdout.write('\\n');
  }
  process.exit();`;
const NAMESPACE = 'ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range="40000 40000" && exec "$@"';

(process.getuid?.() === 0 ? it : it.skip)(
  'an agent whose machine has no local port left reports a busy probe, not a failure of target or resolver',
  async () => {
    const node = [process.execPath, '--conditions=vantage-source', '--input-type=module', '-e', program];
    const words = ['--net', 'sh', '-c', NAMESPACE, 'sh', ...node];
    const output = await new Promise<string>((resolve, reject) => {
      execFile('unshare', words, { env: programEnv({}) }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });

    const results = output.trim().split('\n');
    const said = results.map((line) => JSON.parse(line) as { readonly result: string; readonly error: object });
    expect(said.map(({ result, error }) => ({ result, ...error }))).toEqual(
      checks.map(() => expect.objectContaining({ result: 'error', code: 'probe_busy', source: 'probe' })),
    );
  },
);
