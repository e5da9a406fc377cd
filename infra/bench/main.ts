/**
 * `npm run -s bench -- NAME [--json FILE] [--quick] [--minutes N] [--report FOLDER] [--only PART]`: measures in
 * comparison with a peer or a lower bound in the same run; the last lines are the goals.
 */
import { bundlePrograms } from '../command/bundle-programs.ts';
import { openProgress, type Progress } from '../command/progress.ts';
import { readFlags } from '../command/read-flags.ts';
import { report, type Figure } from './goals.ts';

type Benchmark = (progress: Progress) => Promise<readonly Figure[]>;

const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  agent: async () => {
    const { agent } = await import('./agent/agent.ts');
    return () => agent(values.quick !== undefined, values.only);
  },
  'agent-cpu': async () => (await import('./dns/agent-cpu.ts')).agentCpuPerCheck,
  bytes: async () => (await import('./bytes/bytes.ts')).bytes,
  dns: async () => (await import('./dns/dns.ts')).dns,
  gateway: async () => {
    const { gateway } = await import('./gateway/gateway.ts');
    return () => gateway(values.quick !== undefined, values.only);
  },
  memory: async () => {
    const { memory } = await import('./memory/memory.ts');
    return (progress) => memory(Number(values.minutes ?? 0), progress);
  },
  geo: async () => (await import('./geo/geo.ts')).geo,
  links: async () => {
    const { links } = await import('./links/links.ts');
    return () => links(values.quick !== undefined);
  },
  paths: async () => {
    const { paths } = await import('./paths/paths.ts');
    return () => paths(values.only);
  },
  monitors: async () => {
    const { monitors } = await import('./monitors/monitors.ts');
    return () => monitors(values.quick !== undefined);
  },
  packets: async () => (await import('./packets/packets.ts')).packets,
  tcp: async () => (await import('./tcp/tcp.ts')).tcp,
  http: async () => (await import('./http/http.ts')).http,
  screenshot: async () => (await import('./screenshot/screenshot.ts')).screenshot,
  web: async () => {
    const { web } = await import('./web/web.ts');
    return (progress) => web(progress, values.only);
  },
  overhead: async () => (await import('./overhead/overhead.ts')).overhead,
  growth: async () => (await import('./load/growth.ts')).growth,
  hundred: async () => (await import('./load/hundred.ts')).hundred,
  idle: async () => {
    const { idleProbes } = await import('./load/idle.ts');
    return () => idleProbes(values.quick !== undefined ? 10 : 20);
  },
  load: async () => {
    const { load } = await import('./load/load.ts');
    return () => load(values.quick !== undefined, values.report, values.only);
  },
};

const [name = '', ...given] = process.argv.slice(2);
const isKnown = Object.hasOwn(benchmarks, name);
const isHelp = name === '--help' || name === '-h';
const read = readFlags(
  'npm run -s bench -- NAME',
  'Measures against a peer or a floor in the same run; the last lines are the goals. NAME is one of\n\n' +
    Object.keys(benchmarks)
      .toSorted()
      .map((known) => `  ${known}`)
      .join('\n'),
  {
    quick: { description: 'Shorter: agent, gateway, idle, load, links and monitors.', isSwitch: true },
    minutes: { description: 'Of light load after the checks of memory; a number.' },
    json: { description: 'File for the figures.' },
    report: { description: 'Folder for the report of load.' },
    only: {
      description:
        'One part: of agent cpu, latency or start; of gateway some of idle, dispatch, link, lost, burst, commands, container (only if named: needs Docker); of load agents, post, rate, scale, idle, streams or kept; of paths model, scamper, mtu, mtr, changes or alarms; of web sizes, crowd, delays or live.',
    },
  },
  isKnown ? given : ['--help'],
);
const { values } =
  read.kind === 'values'
    ? read
    : { values: {} as { quick?: string; json?: string; report?: string; minutes?: string; only?: string } };
/** Benchmarks that use each flag; the others would ignore it. */
const takers = {
  quick: ['agent', 'gateway', 'idle', 'load', 'links', 'monitors'],
  minutes: ['memory'],
  report: ['load'],
  only: ['agent', 'gateway', 'load', 'paths', 'web'],
} as const;
const flags = Object.keys(takers) as readonly (keyof typeof takers)[];
const ignored = flags.find((flag) => values[flag] !== undefined && !takers[flag].some((taker) => taker === name));
if (ignored !== undefined) {
  process.stderr.write(`unexpected --${ignored} for ${name}; it is for ${takers[ignored].join(', ')}\n`);
  process.exitCode = 2;
} else if (read.kind === 'values') {
  bundlePrograms();
  const run = await benchmarks[name]!();
  const progress = openProgress(`bench ${name}`);
  const figures = await run(progress).finally(progress.stop);
  process.exitCode = report(figures, values.json);
} else if (isHelp || (read.status === 0 && isKnown)) process.stdout.write(read.text);
else {
  process.stderr.write(isKnown ? read.text : `unknown benchmark "${name}"\n\n${read.text}`);
  process.exitCode = 2;
}
