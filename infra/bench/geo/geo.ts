import { setFlagsFromString } from 'node:v8';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';

import { openGeo, type Geo } from '../../../packages/geo/src/index.ts';
import { median, quantile, type Figure } from '../goals.ts';

const LOADS = 3;
const TURNS = 5;
const LOOK_UPS = 200_000;
/** Number of distinct addresses that are looked up repeatedly, as those of hops and clients are. */
const KNOWN = 500;

const log = { info: () => undefined, warn: () => undefined };

/** Look-ups of places after a load, the cost of a load and the memory that it keeps; bundled data only. */
export async function geo(): Promise<readonly Figure[]> {
  const { opened, figures } = await load();
  const turnsOf = (address: () => string): readonly number[] =>
    Array.from({ length: TURNS }, () => perSecond(opened.lookUp, address));
  const random = turnsOf(randomIpv4);
  const randomV6 = turnsOf(randomIpv6);
  const known = Array.from({ length: KNOWN }, randomIpv4);
  let next = 0;
  const again = turnsOf(() => known[next++ % KNOWN]!);
  await opened.close();
  const unit = 'a second of CPU';
  return [
    ...figures,
    {
      name: 'look-ups of random IPv4 addresses',
      value: median(random),
      unit,
      atLeast: GOAL,
      comparison: slowest(random),
    },
    {
      name: 'look-ups of random IPv6 addresses',
      value: median(randomV6),
      unit,
      atLeast: GOAL,
      comparison: slowest(randomV6),
    },
    { name: 'look-ups of addresses asked for lately', value: median(again), unit, comparison: slowest(again) },
  ];
}

/**
 * Loads once to measure the memory, then `LOADS` times to measure the duration; the last instance stays open, with the
 * fallback in memory.
 */
async function load(): Promise<{ readonly opened: Geo; readonly figures: readonly Figure[] }> {
  const before = residentMiB();
  let opened = await openGeo({ log });
  const files = residentMiB() - before;
  const missing = opened.sources().filter(({ role, state }) => role !== 'fallback' && state !== 'ready');
  if (missing.length > 0)
    throw new Error(`No data in ${missing.map(({ name }) => name).join(', ')}: run npm run setup.`);
  // The first address without a complete location in the bundled files triggers the load of geoip-lite.
  while (opened.sources().some(({ state }) => state === 'idle')) opened.lookUp(randomIpv4());
  while (opened.sources().some(({ state }) => state === 'loading')) await sleep(20);
  const fallback = residentMiB() - before - files;
  const [times, delays]: [number[], number[]] = [[], []];
  for (let round = 0; round < LOADS; round += 1) {
    await opened.close();
    const longestDelay = watchEventLoop();
    const started = performance.now();
    opened = await openGeo({ log });
    times.push(performance.now() - started);
    delays.push(longestDelay());
  }
  // The library is loaded by now, but this instance opens its files at its first lookups.
  while (opened.sources().some(({ state }) => state === 'idle')) opened.lookUp(randomIpv4());
  while (opened.sources().some(({ state }) => state === 'loading')) await sleep(20);
  const figures: readonly Figure[] = [
    {
      name: 'load',
      value: median(times),
      unit: 'ms',
      comparison: `slowest of ${LOADS}: ${Math.max(...times).toFixed(0)}`,
    },
    { name: 'event loop held up by a load, at most', value: Math.max(...delays), unit: 'ms' },
    { name: 'memory of the files', value: files, unit: 'MiB' },
    { name: 'memory of the fallback', value: fallback, unit: 'MiB' },
  ];
  return { opened, figures };
}

/** Look-ups of random addresses per second of CPU, the worst case: hardly one is in the cache of recent places. */
const GOAL = 100_000;

function perSecond(lookUp: (address: string) => unknown, address: () => string): number {
  const addresses = Array.from({ length: LOOK_UPS }, address);
  const before = process.cpuUsage();
  for (const text of addresses) lookUp(text);
  const { user, system } = process.cpuUsage(before);
  return LOOK_UPS / ((user + system) / 1_000_000);
}

const slowest = (turns: readonly number[]): string => `slowest turn: ${quantile(turns, 0).toFixed(0)}`;

const below = (limit: number): number => Math.floor(Math.random() * limit);

function randomIpv4(): string {
  return `${1 + below(223)}.${below(256)}.${below(256)}.${below(256)}`;
}

/** A random address in 2000::/3, from which the registries allocate. */
function randomIpv6(): string {
  const first = ['2001', '2400', '2600', '2800', '2a00', '2c00'][below(6)]!;
  const groups = Array.from({ length: 7 }, () => below(0x1_00_00).toString(16));
  return `${(Number.parseInt(first, 16) + below(16)).toString(16)}:${groups.join(':')}`;
}

function residentMiB(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage.rss() / (1 << 20);
}

/** @returns a function that ends the watch and returns the longest block of the event loop, milliseconds */
function watchEventLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}
