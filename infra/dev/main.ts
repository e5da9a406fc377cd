/**
 * `npm run dev`: the whole service from its sources. The page reloads when it changes; coordinator and probes are
 * restarted. Flags are those of `npm start`; `--port` is that of the page.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { freePort } from '@vantage/redis-server';

import { parseArguments, usage } from '../../apps/standalone/src/arguments.ts';
import { startDevServer } from '../../apps/web/build/dev-server.ts';

const service = fileURLToPath(new URL('../../apps/standalone/src/main.ts', import.meta.url));
const flags = process.argv.slice(2);
const parsed = parseArguments(flags, '.vantage', process.env);
if (parsed.kind !== 'run') {
  process.stderr.write(parsed.kind === 'help' ? usage : `${parsed.faults.join('\n')}\n\n${usage}`);
  process.exit(parsed.kind === 'help' ? 0 : 2);
}

const port = parsed.arguments.port === 0 ? await freePort() : parsed.arguments.port;
const publicUrl = `http://127.0.0.1:${port}`;
const servicePort = await freePort();
const page = await startDevServer(publicUrl, `http://127.0.0.1:${servicePort}`);
// If a flag is given twice, the last one counts.
const child = spawn(
  process.execPath,
  [...process.execArgv, service, ...flags, '--port', String(servicePort), '--watch'],
  {
    env: { ...process.env, PUBLIC_URL: publicUrl },
    // If this process is killed, the channel closes, and the service ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  },
);
process.stdout.write(`· The page and the API from their sources: ${publicUrl}\n`);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
process.once('disconnect', () => child.kill('SIGTERM'));
process.channel?.unref();
const [status] = (await once(child, 'exit')) as [number | null];
await page.close();
process.exitCode = status ?? 1;
