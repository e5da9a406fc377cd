import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { CheckRunner } from '../../netlab/check-runner.ts';
import type { Netlab } from '../../netlab/netlab.ts';
import { families, type Ping } from '../../netlab/test-lab.ts';
import { quick, packetRows, truths } from '../../netlab/truths.ts';
import type { Figure } from '../goals.ts';
import type { Peers } from './peers.ts';
import { order } from './round-trips.ts';

const CHECKS = 200;
const CPU_CHECKS = 600;
const AT_ONCE = 100;
const TICKS_PER_SECOND = 100;

/**
 * Counts wrong results of two hundred concurrent checks over a link that loses, duplicates and reorders packets, each
 * compared with its own ground truth.
 */
export async function wrongMatches(runner: CheckRunner): Promise<readonly Figure[]> {
  const checks = Array.from({ length: CHECKS }, async (_, index) => {
    const { address } = families[index % 2]!;
    const { network, rows, fields } = truths[Math.floor(index / 2) % truths.length]!;
    const outcome = (await runner.run(order('ping', address(network, 99), quick))).outcome as Ping;
    const isRight = packetRows(outcome).join() === rows.join();
    return { isRight, isLossRight: outcome.loss === (fields.loss ?? 0) };
  });
  const all = await Promise.all(checks);
  const count = (list: readonly boolean[]): number => list.filter((is) => !is).length;
  return [
    {
      name: `checks of ${CHECKS} at once with a wrong match`,
      value: count(all.map(({ isRight }) => isRight)),
      unit: '',
      atMost: 0,
    },
    {
      name: `checks of ${CHECKS} at once with a wrong loss`,
      value: count(all.map(({ isLossRight }) => isLossRight)),
      unit: '',
      atMost: 0,
    },
  ];
}

/**
 * CPU of a ping check of four packets, in the running agent and its packet process, compared with spawning `ping` from
 * Node.
 */
export async function cpuPerCheck(lab: Netlab, peers: Peers, runner: CheckRunner): Promise<readonly Figure[]> {
  const host = families[0].address(4, 2);
  const ping = peers.path('ping');
  const check = (): Promise<object> => runner.run(order('ping', host, { count: 4, interval: 200 }));
  await inTurns(check);
  const before = cpuMsOf(runner.pid);
  await inTurns(check);
  const ours = (cpuMsOf(runner.pid) - before) / CPU_CHECKS;
  if (ping === undefined) return [{ name: 'CPU per ping check', value: ours, unit: 'ms' }];
  const program = fileURLToPath(new URL('spawn-pings.ts', import.meta.url));
  const node = [process.execPath, program, ping, host, String(CPU_CHECKS), String(AT_ONCE)] as const;
  const spawned = Number((await lab.run('probe', ...node)).stdout) / CPU_CHECKS;
  const comparison = `spawning ping ${spawned.toFixed(2)} ms`;
  return [
    { name: 'CPU per ping check', value: ours, unit: 'ms', comparison },
    { name: 'CPU per ping check, spawning ping = 1', value: ours / spawned, unit: '×', atMost: 1 / 3, comparison },
  ];
}

async function inTurns(check: () => Promise<unknown>): Promise<void> {
  let left = CPU_CHECKS;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await check();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** CPU time of a process and its living descendants. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  const own = ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + cpuMsOf(Number(child)), own);
}
