import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { itNeeding } from '@vantage/test-support/needs';

import { sentRounds, startCheckRunner, type CheckRunner } from './check-runner.ts';
import { createNetlab, netlabMissing, type Netlab } from './netlab.ts';
import type { Ping, Traceroute } from './test-lab.ts';
import { ipv4, ipv6, networks } from './topology.ts';

const STOPPED_MS = 4_000;
/**
 * A round-trip time that includes the stall is longer. The link of the target delays by nine milliseconds, but its
 * program may be held up on a busy machine.
 */
const INCLUDES_MS = 3_000;
const ROUNDS = 9;
/** So many that some are left when the packet process is stopped, however late this process is to do so. */
const MANY_ROUNDS = 60;
const missing = netlabMissing();
// Concurrent: each case has its own process of checks.
const itInLab = itNeeding(missing, process.env['CI'], 'concurrent');

const addresses = [ipv4(networks.distant, 99), ipv6(networks.distant, 99)];
const traces = addresses.flatMap((host) => ['icmp', 'udp', 'tcp'].map((protocol) => ({ host, protocol })));

describe('a probe that stands still', () => {
  let lab: Netlab | undefined;
  const runners: CheckRunner[] = [];
  const startRunner = async (): Promise<CheckRunner> => {
    const runner = startCheckRunner(lab!);
    runners.push(runner);
    await runner.run({ ...order, type: 'ping', host: addresses[0]!, options: { count: 1 } });
    return runner;
  };

  beforeAll(async () => {
    if (missing !== null) return;
    lab = await createNetlab();
  });

  afterAll(async () => {
    if (lab === undefined) return;
    await Promise.all(runners.map((runner) => runner.stop()));
    lab.remove();
  });

  const stopped = {
    'its packet process': (pid: number): number[] => childrenOf(pid),
    'its agent': (pid: number): number[] => [pid],
    both: (pid: number): number[] => [pid, ...childrenOf(pid)],
  };
  const cases = Object.entries(stopped).map(([what, pidsOf]) => ({ what, pidsOf }));

  for (const { what, pidsOf } of cases)
    itInLab(`loses no packet, as ping loses none at the same time: ${what}`, async () => {
      const runner = await startRunner();
      const sent = sentRounds();
      const running = Promise.all([
        ...traces.map(({ host, protocol }) =>
          runner.run({ ...order, type: 'traceroute', host, options: { rounds: ROUNDS, protocol } }, sent.ofTrace()),
        ),
        ...addresses.map((host) =>
          runner.run({ ...order, type: 'ping', host, options: { count: 8, interval: 1_000 } }),
        ),
      ]);
      const pings = addresses.map((host) => lab!.run('probe', 'ping', '-n', '-c', '10', host));
      await Promise.race([sent.reach(2), running]);
      const pids = pidsOf(runner.pid);
      expect(pids.length).toBeGreaterThan(0);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await sleep(STOPPED_MS);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      const outcomes = (await running).map(({ outcome }) => outcome);

      for (const { stdout } of await Promise.all(pings)) expect(stdout).toContain(' 0% packet loss');
      for (const outcome of outcomes.slice(0, traces.length) as Traceroute[]) {
        expect(outcome).toMatchObject({ result: 'success', reached: true, rounds: ROUNDS });
        expect(outcome.hops!.map(({ stats }) => stats!.loss)).toEqual([0, 0, 0, 0]);
        expect(outcome.hops!.at(-1)!.stats!.rttMax).toBeLessThan(INCLUDES_MS);
      }
      for (const outcome of outcomes.slice(traces.length) as Ping[]) {
        expect(outcome).toMatchObject({ result: 'success', pingCount: 8, pingCompleted: 8, loss: 0 });
        expect(outcome.rttMax).toBeLessThan(INCLUDES_MS);
      }
    });

  itInLab('counts nothing that a packet process did not send before it was killed', async () => {
    const runner = await startRunner();
    const sent = sentRounds();
    const running = Promise.all(
      traces.map(({ host, protocol }) =>
        runner.run({ ...order, type: 'traceroute', host, options: { rounds: MANY_ROUNDS, protocol } }, sent.ofTrace()),
      ),
    );
    await Promise.race([sent.reach(4), running]);
    const [pid] = childrenOf(runner.pid);
    process.kill(pid!, 'SIGSTOP');
    await sleep(2_500);
    process.kill(pid!, 'SIGKILL');
    const outcomes = (await running).map(({ outcome }) => outcome as Traceroute);

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' }, reached: true });
      for (const { stats } of outcome.hops!) expect(stats!.loss).toBe(0);
      expect(outcome.roundsLeftOut).toBeGreaterThan(3);
    }
  });
});

const order = { hide: false, nameServer: null, partials: false } as const;

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

/** The fourth field, after the name in parentheses (`proc_pid_stat(5)`). */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
