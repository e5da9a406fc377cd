import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LoadReport } from '@vantage/load';

import { startProcess } from './processes.ts';

const GENERATOR = new URL('../../../apps/load/src/main.ts', import.meta.url);

export interface Load {
  readonly url: string;
  /** Target rate, checks per second. */
  readonly rate: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly probes: number;
  readonly mix?: string;
  readonly port?: number;
  readonly follow?: 'sse' | 'wait';
  /** Concurrent generators need different seeds; otherwise their arrivals coincide. */
  readonly seed?: number;
  /** Folder in which the report is kept; without it, the report is removed. */
  readonly report?: string | undefined;
}

/** Runs the generator in a separate process. */
export async function generate(load: Load): Promise<LoadReport> {
  const folder = load.report ?? mkdtempSync(join(tmpdir(), 'vantage-load-'));
  const file = join(folder, 'report.json');
  try {
    // Otherwise the report of an earlier run would be read if this one fails.
    rmSync(file, { force: true });
    const child = startProcess(
      GENERATOR,
      [
        '--target',
        '127.0.0.1',
        '--port',
        String(load.port ?? 80),
        '--name',
        'bench.example.com',
        '--url',
        load.url,
        '--rate',
        String(load.rate),
        '--probes',
        String(load.probes),
        '--duration',
        String(load.seconds),
        '--warm-up',
        String(load.warmUpSeconds),
        '--report',
        folder,
        '--follow',
        load.follow ?? 'wait',
        '--mix',
        load.mix ?? 'ping=4,http=3,dns=2,tcp=1',
        '--seed',
        String(load.seed ?? 1),
      ],
      {},
    );
    const [status] = (await once(child, 'exit')) as [number | null];
    if (status === 2) throw new Error('The load generator refused its settings.');
    return JSON.parse(readFileSync(file, 'utf8')) as LoadReport;
  } finally {
    if (load.report === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

export interface RateVerdict {
  readonly holds: boolean;
  readonly why: string;
}

const DISPATCH_P99_MS = 250;
/** Share of the probe runs of all started checks that must be answered. */
const SHARE = 0.95;

/**
 * The rate holds if at least `SHARE` of the probe runs of all started checks were answered, p99 of the dispatch is
 * below `DISPATCH_P99_MS`, and no check was late, unanswered or refused. The reference is the number started, not the
 * rate, because arrivals are random.
 *
 * @param wanted probe runs per second, for the message
 */
export function evaluateRate(reports: readonly LoadReport[], wanted: number): RateVerdict {
  const runs = sum(reports, ({ perSecond }) => perSecond.probeRuns);
  const started = sum(reports, ({ perSecond, config }) => perSecond.started * config.probes);
  const dispatch = Math.max(...reports.map(({ times }) => times.dispatch.p99));
  const late = sum(reports, (report) => report.late + report.unanswered);
  const errors = reports.flatMap((report) => Object.entries(report.errors));
  const why =
    `${runs.toFixed(0)} probe-runs/s of ${started.toFixed(0)} started at ${wanted.toFixed(0)}, dispatch p99 ${dispatch.toFixed(0)} ms, late ${late}, ` +
    `errors ${errors.length === 0 ? 'none' : errors.map(([kind, count]) => `${count} × ${kind}`).join(', ')}`;
  const isAnswered = runs > 0 && runs >= started * SHARE;
  return { holds: isAnswered && dispatch < DISPATCH_P99_MS && late === 0 && errors.length === 0, why };
}

export function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((all, item) => all + value(item), 0);
}
