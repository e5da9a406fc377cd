import type { Monitor, MonitorInList, Run } from '@vantage/contract';

import { pingCheck } from './ping-check.ts';
import { tracerouteCheck } from './traceroute-check.ts';
import { places } from './probes.ts';

const FIRST_TICK_AT = Date.parse('2026-11-20T20:00:00.000Z');
const EVERY_MS = 60_000;
const TICKS = 100;
/** From this tick on three of five probes fail. */
export const OUT_FROM_TICK = 88;

const five = places.slice(0, 5);
const refused = 'The connection was refused.';

function result(index: number, tick: number): Run['results'][string] {
  const isOut = tick >= OUT_FROM_TICK && index < 3;
  const isAway = index === 4 && tick > 40 && tick < 46;
  const none = { reason: null, rtt: null, loss: null, certificateDays: null, status: null };
  if (isAway) return { ...none, state: 'unmeasured', reason: 'The probe is offline.' };
  return isOut ? { ...none, state: 'failing', reason: refused } : { ...none, state: 'ok', rtt: 12 + index, loss: 0 };
}

const timeOf = (tick: number): string => new Date(FIRST_TICK_AT + tick * EVERY_MS).toISOString();

export function runAt(tick: number): Run {
  return {
    tick,
    checkId: pingCheck.testId,
    scheduledAt: timeOf(tick),
    startedAt: timeOf(tick),
    reason: null,
    results: Object.fromEntries(five.map(([id], index) => [id, result(index, tick)])),
  };
}

/** A monitor of five probes after a number of ticks. */
export function monitorAfter(ticks: number): Monitor {
  const isBad = ticks > OUT_FROM_TICK;
  const probes = five.map(([id, , country], index): [string, Monitor['probes'][string]] => {
    const isFailing = ticks >= OUT_FROM_TICK && index < 3;
    const place = { network: `AS${64_496 + index}`, country, flapping: index === 3 };
    return [id, { ...result(index, ticks), ...place, since: timeOf(isFailing ? OUT_FROM_TICK : 1) }];
  });
  return {
    name: 'web',
    owner: 'api',
    check: { type: 'tcp', host: 'www.example.com', port: 443 },
    every: '60s',
    alarm: { when: '3 of 5', networks: 2, countries: 1, for: 2 },
    state: isBad ? 'bad' : 'ok',
    since: timeOf(isBad ? OUT_FROM_TICK + 1 : 1),
    headline: isBad
      ? 'www.example.com does not answer from 3 of 5 probes: the connection was refused.'
      : 'Port 443 of www.example.com is open from all 5 probes.',
    lastTickAt: timeOf(ticks),
    nextTickAt: timeOf(ticks + 1),
    agreement: { failing: isBad ? 3 : 0, counted: 4, needed: 3, networks: isBad ? 3 : 0, countries: isBad ? 3 : 0 },
    alarmSince: isBad ? timeOf(ticks) : null,
    tracerouteId: isBad ? tracerouteCheck.testId : null,
    parting: null,
    lastPathChangeAt: null,
    pathChanges: [],
    probes: Object.fromEntries(probes),
    runs: Array.from({ length: Math.min(ticks, TICKS) }, (_, back) => runAt(ticks - back)),
  };
}

export function inList({ runs: _runs, pathChanges: _pathChanges, ...monitor }: Monitor): MonitorInList {
  return monitor;
}

const move = {
  before: tracerouteCheck.testId,
  hop: 3,
  from: [['198.51.100.20']],
  to: [['198.51.100.60']],
  networksGone: ['AS65536'],
  networksNew: ['AS65537'],
  text: 'path at hop 3: 198.51.100.20 in AS65536 (Example Carrier One) → 198.51.100.60 in AS65537 (Example Carrier Two), another router or the same one by another interface',
};
const [one, two, ...others] = five.map(([id]) => id) as [string, string, ...string[]];

function pathChangeAt(
  tick: number,
  changes: Monitor['pathChanges'][number]['changes'],
): Monitor['pathChanges'][number] {
  const at = { tick, at: timeOf(tick), checkId: pathAfter.testId };
  const probes = [...new Set([...changes.flatMap((change) => change.probes), ...(changes.length > 1 ? others : [])])];
  return { ...at, probes, change: changes[0]!.change, sentence: 'Path at hop 3 …', changes };
}

/** A later check of the paths. */
export const pathAfter = { ...tracerouteCheck, testId: 'pathAfterAAAAAAAAAAAAA' };

/** A traceroute monitor whose paths have changed; the checks of the older changes are gone. */
export const pathMonitor: Monitor = {
  ...monitorAfter(60),
  name: 'paths',
  check: { type: 'traceroute', host: 'www.example.com' },
  headline: 'www.example.com is reached from all 5 probes.',
  lastPathChangeAt: timeOf(52),
  pathChanges: [
    pathChangeAt(52, [
      { ...move, change: 'path', probes: [one, two], kept: true },
      {
        ...move,
        change: 'ways',
        probes: [others[0]!],
        kept: false,
        networksGone: [],
        networksNew: [],
        text: 'path at hop 4: 198.51.100.21 or 198.51.100.22 → 198.51.100.21, fewer ways of a load balancer',
      },
    ]),
    ...Array.from({ length: 11 }, (_, index) =>
      pathChangeAt(50 - 2 * index, [{ ...move, change: 'hop', probes: [one], kept: index < 2 }]),
    ),
  ],
};

/** A monitor that never ran. */
export const newMonitor: MonitorInList = {
  ...inList(monitorAfter(1)),
  name: 'new',
  owner: 'file',
  state: 'unknown',
  since: null,
  headline: null,
  lastTickAt: null,
  agreement: null,
  probes: {},
};
