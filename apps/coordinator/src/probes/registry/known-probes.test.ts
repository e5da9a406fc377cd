import type { ProbeRecord } from '@vantage/contract';
import { beforeEach, describe, expect, it } from '@jest/globals';

import { NO_ACCESS, type AgentAccess } from '../enrolment/agent-access.ts';
import { createKnownProbes, type DirectoryState, type KnownProbes } from './known-probes.ts';
import { marksOf } from './probe-records.ts';
import type { ProbeEntry } from './probe-entry.ts';
import type { KnownProbe } from './probe-status.ts';

const place = { datacenter: 'x', countryCode: 'DE', isp: 'x', asNumber: 'AS64496', city: null };
const recordOf = (id: string): ProbeRecord => ({ ...place, id, name: id, latitude: null, longitude: null, tags: [] });
const heartbeat = {
  v: 1 as const,
  version: '1',
  instance: 'run-1',
  draining: false,
  load: { running: 0, capacity: 10 },
  capabilities: { types: [], ipv4: true, ipv6: true, screenshot: false },
  degraded: [],
};
const entryOf = (lastSeenMs: number): ProbeEntry => ({
  probe: { alive: true, heartbeat, lastSeenMs },
  isReturn: false,
  entries: 0,
  atMs: 0,
  endsAtMs: 15_000,
  isSettled: true,
});

let access: Map<string, AgentAccess>;
let probes: KnownProbes;
let entries: Map<string, ProbeEntry>;
let state: DirectoryState;

beforeEach(() => {
  access = new Map();
  probes = createKnownProbes((id) => access.get(id) ?? NO_ACCESS);
  entries = new Map(['fra-1', 'nyc-1', 'sgp-1'].map((id) => [id, entryOf(1_000)]));
  const records = ['fra-1', 'nyc-1', 'sgp-1'].map(recordOf);
  state = { records, entries, seen: {}, off: {}, storeFault: undefined, nowMs: 1_000_000 };
});

const update = (more: Partial<DirectoryState> = {}): readonly KnownProbe[] => {
  state = { ...state, ...more };
  return probes.update(state);
};

/** Ids of the probes that are new objects: an unchanged probe keeps its object. */
function madeAnew(before: readonly KnownProbe[], after: readonly KnownProbe[]): readonly string[] {
  return after.filter((probe, index) => probe !== before[index]).map(({ record }) => record.id);
}

describe('the list of known probes', () => {
  it('has a suspension that only the enrolment says yet', () => {
    const reason = 'Suspended by its operator.';
    const agent = { key: 'k', suspensions: 0, copied: null, refusal: null };
    update();
    access.set('nyc-1', { ...agent, state: 'suspended', reason });
    probes.noteChanged('nyc-1');
    const suspended = update()[1];
    access.set('nyc-1', { ...agent, state: 'approved', reason: null });
    probes.noteChanged('nyc-1');

    expect(suspended?.switchedOff).toBe(reason);
    expect(update()[1]?.switchedOff).toBeUndefined();
  });

  it('is the same while nothing changes', () => {
    const before = update();

    expect(update({ nowMs: 1_001_000 })).toBe(before);
  });

  it('makes only a probe whose entry has changed', () => {
    const before = update();
    entries.set('nyc-1', entryOf(2_000));
    probes.noteChanged('nyc-1');
    const after = update();

    expect(madeAnew(before, after)).toEqual(['nyc-1']);
    expect(after[1]?.lastSeenMs).toBe(2_000);
    expect(before[1]?.lastSeenMs).toBe(1_000);
  });

  it.each<[string, () => Partial<DirectoryState>, readonly string[]]>([
    ['a record', () => ({ records: [...state.records.slice(0, 2), recordOf('sgp-1')] }), ['sgp-1']],
    ['a suspension', () => ({ off: { 'fra-1': 'Too much.' } }), ['fra-1']],
    ['the store', () => ({ storeFault: 'Full.' }), ['fra-1', 'nyc-1', 'sgp-1']],
    ['a return that another coordinator noticed', () => ({ seen: returnOf('nyc-1') }), ['nyc-1']],
  ])('follows a change of %s', (_what, change, expected) => {
    const before = update();

    expect(madeAnew(before, update(change()))).toEqual(expected);
  });

  it('follows a change of an enrolment', () => {
    const before = update();
    access.set('sgp-1', { ...NO_ACCESS, state: 'suspended' });
    probes.noteChanged('sgp-1');

    expect(madeAnew(before, update())).toEqual(['sgp-1']);
  });

  it('ends the time after a return without a change', () => {
    const during = update({ seen: returnOf('nyc-1') });
    const after = update({ nowMs: state.nowMs + 6_000 });

    expect([during[1]?.justBack, after[1]?.justBack]).toEqual([true, false]);
    expect(update()).toBe(after);
  });

  it('has a new probe once it was read, and an old one no longer', () => {
    update();
    const records = [...state.records.slice(1), recordOf('tyo-1')];
    const unread = update({ records });
    entries.set('tyo-1', entryOf(3_000));
    probes.noteChanged('tyo-1');

    expect(unread.map(({ record }) => record.id)).toEqual(['nyc-1', 'sgp-1']);
    expect(update().map(({ record }) => record.id)).toEqual(['nyc-1', 'sgp-1', 'tyo-1']);
  });
});

function returnOf(id: string): Readonly<Record<string, string>> {
  const [run, back] = marksOf(id);
  return { [run]: 'run-1', [back]: String(state.nowMs - 1_000) };
}
