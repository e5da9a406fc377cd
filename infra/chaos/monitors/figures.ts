import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../../bench/goals.ts';
import { verifyTicks } from './verify-ticks.ts';
import { killAtRandom } from './kills.ts';
import { EVERY_MS, startMonitorTrial } from './service.ts';

export interface MonitorTrialOptions {
  readonly seed: number;
  readonly monitors: number;
  readonly durationMs: number;
  readonly print: (line: string) => void;
}

const NOTES = 20;

/** Ticks while coordinators are killed: none is lost while one runs, and none is doubled. */
export async function monitorFigures({
  seed,
  monitors,
  durationMs,
  print,
}: MonitorTrialOptions): Promise<readonly Figure[]> {
  const trial = await startMonitorTrial(monitors, 'single');
  try {
    await sleep(EVERY_MS);
    const kills = await killAtRandom(trial, seed, durationMs);
    // Time for another coordinator to take over, run and evaluate the ticks that the killed one had claimed.
    await sleep(2 * EVERY_MS);
    const evaluatedMs = Date.now() - EVERY_MS;
    const observed = { monitors: await trial.read(), changes: await trial.changes(), starts: await trial.starts() };
    const ledger = verifyTicks(observed, EVERY_MS, evaluatedMs);
    ledger.notes.slice(0, NOTES).forEach((note) => print(`  ! ${note}`));
    const name = (what: string): string => `monitors, coordinators killed: ${what}`;
    return [
      { name: name('kills'), value: kills, unit: '', atLeast: 1 },
      { name: name('ticks due'), value: ledger.due, unit: '', atLeast: 1 },
      { name: name('ticks lost'), value: ledger.lost, unit: '', atMost: 0 },
      { name: name('ticks doubled'), value: ledger.doubled, unit: '', atMost: 0 },
      { name: name('false alarms'), value: ledger.alarms, unit: '', atMost: 0 },
      {
        name: name('p99 from the tick to its start'),
        value: quantile(ledger.delaysMs, 0.99),
        unit: 'ms',
        comparison: `median ${quantile(ledger.delaysMs, 0.5)} ms, longest ${quantile(ledger.delaysMs, 1)} ms`,
      },
    ];
  } finally {
    await trial.stop();
  }
}
