import { runProbeAdmin } from './admin.ts';

// oxlint-disable-next-line node/no-process-env -- a command of its own, outside of the coordinator and its configuration
const redisUrl = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';

process.exitCode = await runProbeAdmin(process.argv.slice(2), redisUrl, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
});
