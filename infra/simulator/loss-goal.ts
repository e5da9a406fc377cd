import type { Figure } from '../bench/goals.ts';
import type { Ping } from '../netlab/test-lab.ts';
import { caseOf, type Case } from './compile.ts';
import { targetLossOf } from './verify/loss.ts';
import { ownPassages, soundAnswer } from './verify/truth.ts';
import type { CaseRun } from './run-cases.ts';
import { router, routers, type CheckKind } from './scenario.ts';

const LOSSES = [5, 20, 40] as const;
const CHECKS: readonly CheckKind[] = ['icmp', 'udp', 'tcp', 'ping'];
/**
 * Repetitions of each loss rate and check, each with ten packets from four probes to the target: more than a thousand
 * packets.
 */
const REPEATS = 26;
/** Allowed error of the displayed loss, percentage points. */
const GOAL_POINTS = 2;

/** Cases with loss on a link in the middle. */
export function lossCases(): readonly Case[] {
  const wanted = LOSSES.flatMap((percent) =>
    CHECKS.flatMap((check) => Array.from({ length: REPEATS }, () => ({ percent, check }))),
  );
  return wanted.map(({ percent, check }, number) => {
    const path = [...routers(2), router({ loss: percent / 100 }), ...routers(2)];
    const options = { options: { queries: 10 }, pingOptions: { count: 10 } };
    return caseOf({ name: `loss${percent}`, path, ...options }, number, number % 2 === 0 ? 4 : 6, check);
  });
}

/** Difference between the displayed loss at the target and the share of lost packets, in percentage points. */
export function lossFigures(runs: readonly CaseRun[]): readonly Figure[] {
  return LOSSES.flatMap((percent) =>
    CHECKS.flatMap((check) => {
      const own = runs.filter(({ of }) => of.scenario.name === `loss${percent}` && of.check === check);
      if (own.length === 0) return [];
      const { lost, of, trueShare } = check === 'ping' ? pingLossOf(own) : targetLossOf(own);
      const name = `error of the loss by ${check} at ${percent} %`;
      const comparison = `${lost} of ${of} packets, in truth ${(trueShare * 100).toFixed(2)} %`;
      const value = Math.abs(lost / of - trueShare) * 100;
      return [{ name, value, unit: 'points', atMost: GOAL_POINTS, comparison }];
    }),
  );
}

function pingLossOf(runs: readonly CaseRun[]): ReturnType<typeof targetLossOf> {
  let [lost, of, trulyLost, trulyOf] = [0, 0, 0, 0];
  for (const { of: one, shares } of runs) {
    for (const share of shares) {
      const { pingCount = 0, pingCompleted = 0 } = share.outcome as Ping;
      const sent = ownPassages(one, share);
      of += pingCount;
      lost += pingCount - pingCompleted;
      trulyOf += sent.length;
      trulyLost += sent.filter((passage) => soundAnswer(passage) === undefined).length;
    }
  }
  return { lost, of, trueShare: trulyLost / trulyOf };
}
