/** `pnpm bench NAME [--json FILE]`: measures against a peer or a floor in the same run; the last lines are the goals. */
import { parseArgs } from 'node:util';

import { report, type Figure } from './goals.ts';

const benchmarks: Readonly<Record<string, () => Promise<() => Promise<readonly Figure[]>>>> = {
  'agent-cpu': async () => (await import('./dns/agent-cpu.ts')).agentCpuPerCheck,
  dns: async () => (await import('./dns/dns.ts')).dns,
  geo: async () => (await import('./geo/geo.ts')).geo,
  packets: async () => (await import('./packets/packets.ts')).packets,
  http: async () => (await import('./http/http.ts')).http,
  screenshot: async () => (await import('./screenshot/screenshot.ts')).screenshot,
  overhead: async () => (await import('./overhead/overhead.ts')).overhead,
};

const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true });
const load = benchmarks[positionals[0] ?? ''];
if (load === undefined || positionals.length !== 1) {
  process.stderr.write(`usage: pnpm bench ${Object.keys(benchmarks).join('|')} [--json FILE]\n`);
  process.exitCode = 2;
} else {
  const run = await load();
  process.exitCode = report(await run(), values.json);
}
