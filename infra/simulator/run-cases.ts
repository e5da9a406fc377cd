import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isIPv6 } from 'node:net';

import { startCheckRunner, type CheckRunner } from '../netlab/check-runner.ts';
import type { CheckOutcome } from '../netlab/run-check.ts';
import { PROBES } from './addresses.ts';
import type { Case } from './compile.ts';
import { createInternet } from './internet.ts';
import { readLog, type Passage } from './log.ts';

/** Results of one probe, and the fate of its packets. */
export interface Share {
  readonly probe: number;
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly endedMs: number;
  readonly passages: readonly Passage[];
}

export interface CaseRun {
  readonly of: Case;
  readonly shares: readonly Share[];
}

/** Concurrent checks of one probe. */
const AT_ONCE = 12;

/** Runs the check of each case from all probes, and combines the log of the simulator with their results. */
export async function runCases(
  cases: readonly Case[],
  seed: number,
  onDone: (count: number) => void = () => undefined,
): Promise<readonly CaseRun[]> {
  const folder = await mkdtemp(join(tmpdir(), 'vantage-simulator-'));
  const logFile = join(folder, 'packets.jsonl');
  const internet = await createInternet(cases, seed, logFile);
  try {
    let done = 0;
    const outcomesByProbe = await Promise.all(
      PROBES.map(async (_, probe) => {
        const start = (_node: string, program: string, ...args: readonly string[]) =>
          internet.start(probe, program, ...args);
        const runner = startCheckRunner({ start });
        const outcomes = await runAll(runner, cases, () => onDone((done += 1)));
        await runner.stop();
        return outcomes;
      }),
    );
    await internet.stop();
    const passages = await readLog(logFile);
    return cases.map((of, index) => ({
      of,
      shares: outcomesByProbe.map((outcomes, probe) => {
        const { outcome, endedMs } = outcomes[index]!;
        const own = passages.get(`${of.number}/${probe}`) ?? [];
        return { probe, outcome: outcome as Share['outcome'], endedMs, passages: own };
      }),
    }));
  } finally {
    internet.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runAll(
  runner: CheckRunner,
  cases: readonly Case[],
  onDone: () => void,
): Promise<readonly Omit<CheckOutcome, 'id'>[]> {
  const outcomes: Omit<CheckOutcome, 'id'>[] = [];
  const queue = cases.entries();
  const worker = async (): Promise<void> => {
    for (const [index, of] of queue) {
      outcomes[index] = await runner.run(orderOf(of));
      onDone();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

function orderOf({ scenario, check, address }: Case): Parameters<CheckRunner['run']>[0] {
  const { options, pingOptions, hide = false } = scenario;
  const common = { host: address, hide, privateByRange: true, nameServer: null, partials: false };
  const family = isIPv6(address) ? 6 : 4;
  return check === 'ping'
    ? { ...common, type: 'ping', options: { interval: 200, family, ...pingOptions } }
    : { ...common, type: 'traceroute', options: { ...options, family, protocol: check } };
}
