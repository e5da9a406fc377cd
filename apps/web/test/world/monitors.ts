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
