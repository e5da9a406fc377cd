import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys, type Monitor, type MonitorEvent } from '@vantage/contract';
import { freePort } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { end, startWorker } from '../../bench/load/processes.ts';
import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { definePart, type Part } from '../processes.ts';
import { keepStore, type Store } from '../store.ts';

export const EVERY_MS = 10_000;
const AGENTS = new URL('../../bench/load/simulated-agents-worker.ts', import.meta.url);
const MANY = '1000000000';

/**
 * Jobs that the probe started: id of the check, and start in milliseconds since the epoch by the clock of this
 * process' machine.
 */
export type Starts = readonly (readonly [id: string, atMs: number])[];

/** A monitor and the state to which it has changed. */
export type StateChange = Pick<Extract<MonitorEvent, { readonly kind: 'state' }>, 'monitor' | 'to'>;

/** Coordinators with monitors at one simulated probe, which always succeeds. */
export interface MonitorTrial {
  readonly store: Store;
  readonly coordinators: readonly { readonly part: Part; readonly url: string }[];
  readonly names: readonly string[];
  /** Reads the starts of checks since the trial began. */
  readonly starts: () => Promise<Starts>;
  /** Reads the monitors over HTTP from any coordinator that answers. */
  readonly read: () => Promise<readonly Monitor[]>;
  /** Reads one monitor in the same way, by its index in `names`. */
  readonly readOne: (index: number) => Promise<Monitor>;
  /** Reads the changes of the monitors' states from Redis, which keeps the last 100 events of a monitor. */
  readonly changes: () => Promise<readonly StateChange[]>;
  readonly stop: () => Promise<void>;
}

/** @param monitors number of monitors, which run every ten seconds */
export async function startMonitorTrial(
  monitors: number,
  kind: 'single' | 'sentinel',
  count = 3,
): Promise<MonitorTrial> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-chaos-monitors-'));
  const stoppers: (() => Promise<unknown> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const step of stoppers.splice(0).toReversed()) await step();
  };
  try {
    const store = await keepStore(kind, folder);
    stoppers.push(store.stop);
    const names = Array.from({ length: monitors }, (_, index) => `monitor-${index}`);
    const file = join(folder, 'monitors.yml');
    writeMonitors(file, names);
    await recordProbes(store.url, ['sim-0']);
    const { child } = await startWorker(AGENTS, [store.url, '0', '1', '20', 'keep']);
    stoppers.push(() => end(child));
    const coordinators = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `coordinator-${index + 1}`;
        const port = await freePort();
        const env = {
          HOST: '127.0.0.1',
          PORT: String(port),
          REDIS_URL: store.url,
          LOG_LEVEL: 'info',
          TARGET_ALLOW: '127.0.0.0/8',
          MONITORS_FILE: file,
          RESULT_RETENTION_SECONDS: '900',
          RATE_LIMIT_MONITORS: MANY,
          RATE_LIMIT_PROBES: MANY,
          RESULTS_MAX_MIB: '512',
        };
        return {
          part: definePart(name, 'coordinator', env, join(folder, `${name}.log`)),
          url: `http://127.0.0.1:${port}`,
        };
      }),
    );
    for (const { part } of coordinators) {
      part.start();
      stoppers.push(part.kill);
    }
    for (const { url } of coordinators) await untilProbesAreUp(url, 1);
    const urls = coordinators.map(({ url }) => url);
    const read = (): Promise<readonly Monitor[]> => readMonitors(urls, names);
    const readOne = (index: number): Promise<Monitor> => readMonitor(urls, names[index]!);
    const changes = (): Promise<readonly StateChange[]> => readChanges(store, names);
    return { store, coordinators, names, starts: keepStarts(child), read, readOne, changes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function writeMonitors(file: string, names: readonly string[]): void {
  const check = JSON.stringify({ type: 'tcp', host: '127.0.0.1', port: 9 });
  writeFileSync(
    `${file}.new`,
    `monitors:\n${names.map((name) => `  ${name}: {check: ${check}, every: 10s}\n`).join('')}`,
  );
  renameSync(`${file}.new`, file);
}

function keepStarts(child: ChildProcess): () => Promise<Starts> {
  const all: (readonly [string, number])[] = [];
  return async () => {
    child.send('starts');
    const [more] = (await once(child, 'message')) as [Starts];
    all.push(...more);
    return all;
  };
}

async function readChanges(store: Store, names: readonly string[]): Promise<readonly StateChange[]> {
  const redis = new Redis(await store.masterPort(), '127.0.0.1');
  try {
    const streams = await Promise.all(names.map((name) => redis.xrange(redisKeys.monitorEvents(name), '-', '+')));
    const events = streams.flat().map(([, fields]) => JSON.parse(fields[1]!) as MonitorEvent);
    return events.filter((event) => event.kind === 'state');
  } finally {
    redis.disconnect();
  }
}

async function readMonitors(urls: readonly string[], names: readonly string[]): Promise<readonly Monitor[]> {
  const found: Monitor[] = [];
  for (let index = 0; index < names.length; index += 20) {
    found.push(...(await Promise.all(names.slice(index, index + 20).map((name) => readMonitor(urls, name)))));
  }
  return found;
}

async function readMonitor(urls: readonly string[], name: string): Promise<Monitor> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(`${urls[attempt % urls.length]!}/monitors/${name}`).catch(() => undefined);
    if (response?.status === 200) return (await response.json()) as Monitor;
    await response?.arrayBuffer();
    if (attempt > 600) throw new Error(`GET /monitors/${name}: ${response?.status ?? 'no answer'}`);
    await sleep(100);
  }
}
