/**
 * Breaks a running service in every way that there is, and looks from outside whether it keeps what it promised.
 * Run: `pnpm chaos --minutes 5 --seed 1 [--only TEXT] [--json FILE]`
 */
import { parseArgs } from 'node:util';

import { report, type Figure } from '../bench/goals.ts';
import { faults } from './faults.ts';
import type { Tally } from './ledger.ts';
import { overloadFigures } from './overload.ts';
import { runChaos, type RunOutcome } from './run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    rate: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const wanted = faults.filter(({ name }) => name.toLowerCase().includes(values.only.toLowerCase()));
const totalMs = Number(values.minutes) * 60_000;
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort(new Error(signal)));
const shared = { seed: Number(values.seed), rate: Number(values.rate), scale: 1, signal: interrupted.signal };
const outcomes: RunOutcome[] = [];
// Fail-overs have a store of their own, of which each takes a fresh one: its servers are not started again.
const failOvers = wanted.filter(({ store }) => store === 'sentinel');
const others = wanted.filter(({ store }) => store !== 'sentinel');
if (others.length > 0) {
  const durationMs = totalMs * (failOvers.length > 0 ? 0.85 : 1);
  outcomes.push(
    await runChaos({
      ...shared,
      faults: others,
      store: 'single',
      durationMs,
      screenshots: true,
      report: (name) => print(`· ${name}`),
    }),
  );
}
if (failOvers.length > 0) {
  const until = performance.now() + totalMs * (others.length > 0 ? 0.15 : 1);
  for (let round = 0; round === 0 || performance.now() < until; round += 1) {
    const seed = shared.seed + round;
    outcomes.push(
      await runChaos({
        ...shared,
        seed,
        faults: failOvers,
        store: 'sentinel',
        durationMs: 0,
        report: (name) => print(`· ${name}`),
      }),
    );
  }
}

const isOverloaded = 'overload'.includes(values.only.toLowerCase());
if (isOverloaded) print('· overload: three times the sustainable rate for a minute, then a minute and a half of rest');
const overload = isOverloaded ? await overloadFigures({ seed: shared.seed, loadMs: 60_000 }) : [];

const tallies = outcomes.flatMap((outcome) => outcome.tallies);
print('');
for (const tally of tallies) describe(tally);
for (const reason of outcomes.flatMap(({ skipped }) => skipped)) print(`skipped: ${reason}`);
print('');
process.exitCode = report([...(tallies.length > 0 ? figuresOf(tallies) : []), ...overload], values.json);

function describe(tally: Tally): void {
  const { fault, accepted, late, changed, lost, unanswered, refused, cutOff, worstLatenessMs, refusalsMs, timedOut } =
    tally;
  const { deaf, slowestRecoveryMs } = tally;
  print(fault);
  print(
    `  accepted ${accepted}, not terminal in time ${late}, duplicated or changed ${changed}, lost ${lost}, ` +
      `unanswered ${unanswered}; refused ${refused} (slowest ${Math.round(Math.max(0, ...refusalsMs))} ms), cut off ${cutOff}, ` +
      `results that timed out ${timedOut}, probes without a success in time afterwards ${deaf} ` +
      `(slowest ${Math.round(slowestRecoveryMs)} ms), ` +
      `worst lateness ${Number.isFinite(worstLatenessMs) ? `${Math.round(worstLatenessMs)} ms` : 'none'}`,
  );
  for (const text of tally.notes) print(`  ! ${text}`);
}

function figuresOf(all: readonly Tally[]): readonly Figure[] {
  const sum = (of: (tally: Tally) => number): number => all.reduce((total, tally) => total + of(tally), 0);
  const zero = (name: string, of: (tally: Tally) => number): Figure => ({ name, value: sum(of), unit: '', atMost: 0 });
  return [
    { name: 'checks accepted', value: sum(({ accepted }) => accepted), unit: '', atLeast: 1 },
    zero('checks not terminal in time', ({ late }) => late),
    zero('checks duplicated or changed after completion', ({ changed }) => changed),
    zero('checks lost', ({ lost }) => lost),
    zero('probes without a success within 5 s after a fault', ({ deaf }) => deaf),
    // A healthy service without a fault refuses nothing and times nothing out.
    zero('requests refused without a fault', ({ fault, refused }) => (fault === 'none' ? refused : 0)),
    zero('results that timed out without a fault', ({ fault, timedOut }) => (fault === 'none' ? timedOut : 0)),
    zero('requests unanswered', ({ unanswered }) => unanswered),
    zero('requests answered wrongly', ({ wrong, refusedWithoutRetryAfter }) => wrong + refusedWithoutRetryAfter),
    {
      name: 'worst lateness after a deadline',
      value: Math.max(...all.map(({ worstLatenessMs }) => worstLatenessMs)),
      unit: 'ms',
      atMost: 2_000,
    },
  ];
}
