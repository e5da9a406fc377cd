import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Figure } from '../goals.ts';
import { generate, evaluateRate } from './generate.ts';
import { highestRate } from './highest-rate.ts';
import { idleProbes } from './idle.ts';
import { keptChecks } from './kept.ts';
import { posts } from './posts.ts';
import { countCpu } from './processes.ts';
import { scale } from './scale.ts';
import { onStage, PER_CHECK, type Lengths } from './stage.ts';
import { openStreams } from './streams.ts';

const STREAMS = 1_000;

const full: Lengths = { warmUpSeconds: 5, trySeconds: 15, holdSeconds: 120, idleSeconds: 20 };
const quick: Lengths = { warmUpSeconds: 3, trySeconds: 5, holdSeconds: 10, idleSeconds: 10 };

/**
 * The capacity of the service, with Redis, coordinators, agents and generators on this machine.
 *
 * @param report folder for the report of the longest run
 * @param only the name of one part
 */
export async function load(isQuick: boolean, report?: string, only?: string): Promise<readonly Figure[]> {
  const lengths = isQuick ? quick : full;
  const parts = new Map<string, () => Promise<readonly Figure[]>>([
    ['agents', () => realAgents(lengths)],
    ['post', posts],
    ['rate', () => highestRate(lengths, report)],
    ['scale', () => scale(lengths)],
    ['idle', () => idleProbes(lengths.idleSeconds)],
    ['streams', streams],
    ['kept', keptChecks],
  ]);
  const names = [...parts.keys()].filter((name) => only === undefined || only === name);
  if (names.length === 0) throw new Error(`unknown part "${only}"; expected one of ${[...parts.keys()].join(', ')}`);
  const figures: Figure[] = [];
  for (const name of names) {
    process.stderr.write(`${name} …\n`);
    figures.push(...(await parts.get(name)!()));
  }
  return figures;
}

async function realAgents({ trySeconds, warmUpSeconds }: Lengths): Promise<readonly Figure[]> {
  const target = createServer((_request, response) => response.end('hello\n')).listen(0, '127.0.0.1');
  await once(target, 'listening');
  try {
    return await onStage({ probes: PER_CHECK, agents: 'real' }, async ({ urls, pids }) => {
      const cpu = countCpu(pids);
      const rate = 10;
      const report = await generate({
        url: urls[0]!,
        rate,
        seconds: trySeconds,
        warmUpSeconds,
        probes: PER_CHECK,
        mix: 'http=1,tcp=1',
        port: (target.address() as AddressInfo).port,
      });
      // The agents' counters include the warm-up, so its probe runs count too.
      const runs = report.perSecond.probeRuns * (trySeconds + warmUpSeconds);
      const { why } = evaluateRate([report], rate * PER_CHECK);
      return [
        { name: 'real agents: dispatch p99', value: report.times.dispatch.p99, unit: 'ms', comparison: why },
        {
          name: 'real agents: CPU per probe-run',
          value: (cpu().agents / runs) * 1_000,
          unit: 'µs',
          comparison: 'http and tcp',
        },
      ];
    });
  } finally {
    target.closeAllConnections();
    target.close();
  }
}

async function streams(): Promise<readonly Figure[]> {
  return onStage({ probes: PER_CHECK, agents: 'simulated', lastsMs: 4_000 }, async ({ urls, pids }) => {
    const cpu = countCpu({ coordinator: pids.coordinators });
    const { opened, completed, spreadMs, p99Ms } = await openStreams(urls[0]!, STREAMS);
    const name = (what: string): string => `${STREAMS} event streams of a check: ${what}`;
    return [
      {
        name: name('notified of its end'),
        value: completed,
        unit: 'streams',
        atLeast: STREAMS,
        comparison: `${opened} opened`,
      },
      {
        name: name('from the first to the last notification'),
        value: spreadMs,
        unit: 'ms',
        comparison: `p99 ${p99Ms.toFixed(0)}`,
      },
      { name: name('CPU of the coordinator'), value: (cpu().coordinator / STREAMS) * 1_000, unit: 'µs a stream' },
    ];
  });
}
