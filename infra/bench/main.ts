/** `npm run -s bench -- NAME [--json FILE] [--quick] [--report FOLDER]`: measures against a peer or a floor in the same run; the last lines are the goals. */
import { parseArgs } from 'node:util';

import { openProgress, type Progress } from '../command/progress.ts';
import { report, type Figure } from './goals.ts';

type Benchmark = (progress: Progress) => Promise<readonly Figure[]>;

const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  agent: async () => {
    const { agent } = await import('./agent/agent.ts');
    return () => agent(values.quick === true);
  },
  'agent-cpu': async () => (await import('./dns/agent-cpu.ts')).agentCpuPerCheck,
  bytes: async () => (await import('./bytes/bytes.ts')).bytes,
  dns: async () => (await import('./dns/dns.ts')).dns,
  gateway: async () => {
    const { gateway } = await import('./gateway/gateway.ts');
    return () => gateway(values.quick === true);
  },
  geo: async () => (await import('./geo/geo.ts')).geo,
  links: async () => {
    const { links } = await import('./links/links.ts');
    return () => links(values.quick === true);
  },
  paths: async () => (await import('./paths/paths.ts')).paths,
  monitors: async () => {
    const { monitors } = await import('./monitors/monitors.ts');
    return () => monitors(values.quick === true);
  },
  packets: async () => (await import('./packets/packets.ts')).packets,
  tcp: async () => (await import('./tcp/tcp.ts')).tcp,
  http: async () => (await import('./http/http.ts')).http,
  screenshot: async () => (await import('./screenshot/screenshot.ts')).screenshot,
  web: async () => (await import('./web/web.ts')).web,
  overhead: async () => (await import('./overhead/overhead.ts')).overhead,
  growth: async () => (await import('./load/growth.ts')).growth,
  idle: async () => {
    const { idleProbes } = await import('./load/idle.ts');
    return () => idleProbes(values.quick === true ? 10 : 20);
  },
  load: async () => {
    const { load } = await import('./load/load.ts');
    return () => load(values.quick === true, values.report);
  },
};

const { values, positionals } = parseArgs({
  // `--quick` is for `agent`, `gateway`, `idle`, `load`, `links` and `monitors`, `--report` for `load`.
  options: { json: { type: 'string' }, quick: { type: 'boolean' }, report: { type: 'string' } },
  allowPositionals: true,
});
const benchmark = benchmarks[positionals[0] ?? ''];
if (benchmark === undefined || positionals.length !== 1) {
  process.stderr.write(
    `usage: npm run -s bench -- ${Object.keys(benchmarks).join('|')} [--json FILE] [--quick] [--report FOLDER]\n`,
  );
  process.exitCode = 2;
} else {
  const run = await benchmark();
  const progress = openProgress(`bench ${positionals[0]}`);
  const figures = await run(progress).finally(progress.stop);
  process.exitCode = report(figures, values.json);
}
