/**
 * Injects faults into a running service, records what its clients observe, and compares the record with the promises
 * of the service. Run: `npm run -s chaos -- --minutes 5 --seed 1 [--only TEXT] [--except TEXT] [--store NAME]
 * [--shard K/N] [--history FILE] [--json FILE] [--logs FOLDER]`, `npm run -s chaos -- --judge FILE`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { report, type Figure } from '../bench/goals.ts';
import { bundlePrograms } from '../command/bundle-programs.ts';
import { endWithChildren } from '../command/end-with-children.ts';
import { openProgress, type Progress } from '../command/progress.ts';
import { flagsOfProcess } from '../command/read-flags.ts';
import { chooseFaults, storeOf } from './choose-faults.ts';
import type { Fault } from './faults/index.ts';
import { describe, goalsOf } from './goals.ts';
import { openHistory, readHistory, type History } from './history.ts';
import { verifyHistory } from './verify-history.ts';
import { inNamespace, isInNamespace, preparePartitions } from './partition.ts';
import type { StoreKind } from './store.ts';

const values = flagsOfProcess('npm run -s chaos --', 'Injects faults into a whole service under load.', {
  minutes: { description: 'How long.', fallback: '5', isNumber: true },
  seed: { description: 'Repeats a run.', fallback: '1', isNumber: true },
  only: { description: 'Only these faults, separated by commas.', fallback: '' },
  except: { description: 'All but these faults.' },
  store: { description: 'Only faults of this store: single, sentinel or cluster.' },
  shard: { description: 'Only a part of the faults, such as 1/2.' },
  rate: { description: 'Checks a second.', fallback: '8', isNumber: true },
  agents: { description: 'Agents at Redis, and as many at the gateways.', fallback: '2', isNumber: true },
  poll: { description: 'Milliseconds between two polls of a check.', fallback: '400', isNumber: true },
  // See `RunOptions`.
  scale: { description: 'Factor of all durations, for trials.', fallback: '1', isNumber: true },
  indulgence: {
    description: 'Milliseconds added to the bounds of completion and recovery, for trials.',
    fallback: '0',
    isNumber: true,
  },
  history: { description: 'File for every request and answer.' },
  judge: { description: 'Verifies the history in this file and injects nothing.' },
  json: { description: 'File for the figures.' },
  logs: { description: 'Folder for the logs.' },
});

/** Shares of the run's time, by store. */
const SHARES: Readonly<Record<StoreKind, number>> = { single: 0.75, sentinel: 0.15, cluster: 0.1 };

/** Separate trials, after those of the faults. */
const PARTS = ['overload', 'monitors'];

let print = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.judge !== undefined) process.exitCode = verdict(values.judge, []);
else if (process.getuid?.() === 0 && !isInNamespace()) process.exitCode = await runInNamespace();
else await breakAll();

/** Partitions need a private loopback, on which no fault can affect another service of the machine. */
async function runInNamespace(): Promise<number> {
  await preparePartitions();
  const { command, environment } = inNamespace();
  const [program, ...words] = [...command, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(program!, words, { stdio: 'inherit', env: environment });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

// Imports the modules that are slow to load: the help and the process outside of the namespace do not need them.
async function breakAll(): Promise<void> {
  const { faults } = await import('./faults/index.ts');
  const wanted = chooseFaults(faults, values);
  if (typeof wanted === 'string') return refuse(wanted);
  if (wanted.length === 0 && !PARTS.some(isWanted)) return refuse('no fault matches all of the given flags');
  endWithChildren();
  bundlePrograms();
  const progress = openProgress('chaos');
  print = progress.print;
  const folder = values.history === undefined ? mkdtempSync(join(tmpdir(), 'vantage-chaos-history-')) : undefined;
  const file = values.history ?? join(folder!, 'history.jsonl');
  const history = openHistory(file);
  const skipped = new Set<string>();
  for (const reason of await runAll(wanted, history, progress)) skipped.add(reason);
  await history.close();

  const more = [...(await overload()), ...(await ofMonitors())];
  progress.stop();
  print('');
  for (const reason of skipped) print(`skipped: ${reason}`);
  process.exitCode = verdict(wanted.length > 0 ? file : undefined, more);
  if (folder !== undefined) rmSync(folder, { recursive: true });
}

function refuse(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 2;
}

/** @returns the reasons why faults were skipped */
async function runAll(all: readonly Fault[], history: History, progress: Progress): Promise<readonly string[]> {
  const shared = {
    rate: Number(values.rate),
    agents: Number(values.agents),
    pollIntervalMs: Number(values.poll),
    scale: Number(values.scale),
    indulgenceMs: Number(values.indulgence),
    history,
    keepLogsIn: values.logs,
    report: (name: string): void => {
      progress.step(name);
      print(`· ${new Date().toISOString().slice(11, 19)} ${name}`);
    },
  };
  const seed = Number(values.seed);
  const totalMs = Number(values.minutes) * 60_000;
  const wanted = Object.entries(SHARES).flatMap(([store, share]) => {
    const faults = all.filter((fault) => storeOf(fault) === store);
    return faults.length > 0 ? [{ store: store as StoreKind, share, faults }] : [];
  });
  const whole = wanted.reduce((sum, { share }) => sum + share, 0);
  const { runChaos } = await import('./run.ts');
  const reasons: string[] = [];
  for (const { store, share, faults } of wanted) {
    const screenshots = store === 'single' && values.scale === '1';
    const durationMs = (totalMs * share) / whole;
    reasons.push(...(await runChaos({ ...shared, seed, faults, store, durationMs, screenshots })));
  }
  return reasons;
}

function isWanted(name: string): boolean {
  const isWhole = values.only === '' && values.scale === '1' && (values.store ?? values.shard) === undefined;
  return isWhole || values.only.split(',').includes(name);
}

async function overload(): Promise<readonly Figure[]> {
  if (!isWanted('overload')) return [];
  print('· overload: three times the sustainable rate for a minute, then a minute and a half of rest');
  const { overloadFigures } = await import('./overload.ts');
  return overloadFigures({ seed: Number(values.seed), loadMs: 60_000, print });
}

async function ofMonitors(): Promise<readonly Figure[]> {
  if (!isWanted('monitors')) return [];
  print('· monitors: 500 every ten seconds, for some minutes, while coordinators are killed');
  const { monitorFigures } = await import('./monitors/figures.ts');
  return monitorFigures({ seed: Number(values.seed), monitors: 500, durationMs: 200_000, print });
}

/** Prints the verdict on a recorded history. @returns the exit status */
function verdict(file: string | undefined, more: Parameters<typeof report>[0]): number {
  const records = file === undefined ? [] : readHistory(file);
  const tallies = verifyHistory(records);
  for (const line of tallies.flatMap(describe)) print(line);
  print('');
  const setups = records.filter((record) => record.kind === 'setup');
  const indulgenceMs = Math.max(0, ...setups.map((setup) => setup.indulgenceMs));
  return report([...(tallies.length > 0 ? goalsOf(tallies, indulgenceMs) : []), ...more], values.json);
}
