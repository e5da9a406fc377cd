import { describe, expect, it } from '@jest/globals';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { createProbeCapacity, MOST_QUEUED, type ProbeCapacity } from './probe-capacity.ts';

const CAPACITY = 20;

/** A manual clock, and a probe that `fill` gives jobs until it has no capacity or has got `most`. */
function bed() {
  let nowMs = 0;
  let made = 0;
  const listeners = new Map<string, (message: string) => void>();
  const listen = (id: string, listener: (message: string) => void) => {
    listeners.set(id, listener);
    return () => void listeners.delete(id);
  };
  const load: ProbeCapacity = createProbeCapacity({ listen, longestWaitMs: 2_000, nowMs: () => nowMs });
  const end = (id: string): void => listeners.get(id)?.('{"version":1,"probe":"fra","kind":"final"}');
  const fill = (type: string, most = 100_000): string[] => {
    const ids: string[] = [];
    while (ids.length < most && load.hasCapacity(probe(), type)) {
      const id = `check-${(made += 1)}`;
      load.added(id, ['fra'], type, 7_000);
      ids.push(id);
    }
    return ids;
  };
  return { load, fill, end, listeners, pass: (ms: number) => (nowMs += ms) };
}

function probe(waiting = 0): KnownProbe {
  return {
    record: { id: 'fra' } as KnownProbe['record'],
    heartbeat: { load: { running: 0, capacity: CAPACITY } } as NonNullable<KnownProbe['heartbeat']>,
    alive: true,
    lastSeenMs: 0,
    waiting,
  };
}

describe('the room of a probe', () => {
  it('is what it can start without a wait of more than two seconds, as far as jobs are known to be quick', () => {
    const { fill, end, pass } = bed();
    for (let round = 0; round < 100; round += 1) {
      const [id] = fill('tcp', 1);
      pass(100);
      end(id!);
    }

    // Each of 20 slots runs 20 jobs of 100 ms in two seconds; one type may use three quarters of that.
    const begun = fill('tcp').length;
    expect(begun).toBeGreaterThan(280);
    expect(begun).toBeLessThanOrEqual(300);
    expect(fill('tcp')).toEqual([]);
  });

  it('is for slow jobs what it runs at once, and no type takes all of it', () => {
    const { fill, end, pass } = bed();
    for (let round = 0; round < 100; round += 1) {
      const [id] = fill('traceroute', 1);
      pass(6_000);
      end(id!);
    }

    expect(fill('traceroute')).toHaveLength(CAPACITY * 0.75);
    expect(fill('tcp').length).toBeGreaterThan(0);
  });

  it('is for jobs that take longer than expected what it runs at once, before the first of them has ended', () => {
    const { load, fill, pass } = bed();
    for (let seconds = 0; seconds < 2; seconds += 1) {
      fill('udp', 8);
      pass(1_000);
    }

    // 16 jobs wait for a target that does not answer; the initial estimate would allow 120.
    expect(load.hasCapacity(probe(), 'udp')).toBe(false);
    expect(load.hasCapacity(probe(), 'tcp')).toBe(true);
    // The oldest job is two seconds old by now, so n waiting jobs are expected to take n/20 of two seconds on 20 slots.
    expect(load.hasCapacity(probe(18), 'tcp')).toBe(true);
    expect(load.hasCapacity(probe(20), 'tcp')).toBe(false);
  });

  // The average of three results and the initial estimate of 250 ms: 1,562 and 70 ms.
  it.each([
    ['slow', 2_000, 20],
    ['quick', 10, 429],
  ])('follows the first results of a type soon if they are %s', (_reason, milliseconds, expected) => {
    const { fill, end, pass } = bed();
    for (let round = 0; round < 3; round += 1) {
      const [id] = fill('udp', 1);
      pass(milliseconds);
      end(id!);
    }

    expect(fill('udp')).toHaveLength(expected);
  });

  it('comes back when jobs end, are taken back, or their end is never heard of', () => {
    const { load, fill, end, listeners, pass } = bed();
    const [first, second] = fill('tcp');
    const full = load.hasCapacity(probe(), 'tcp');

    // A job that takes as long as the initial estimate leaves the average unchanged.
    pass(250);
    end(first!);
    const afterEnd = fill('tcp').length;
    load.removed(second!);
    const afterRemoval = fill('tcp').length;
    pass(7_000);

    expect([full, afterEnd, afterRemoval]).toEqual([false, 1, 1]);
    expect(load.hasCapacity(probe(), 'tcp')).toBe(true);
    expect([load.size(), listeners.size]).toEqual([0, 0]);
  });

  it('comes back though a longer check began before the jobs whose end is never heard of', () => {
    const { load, fill, pass } = bed();
    load.added('long', ['fra'], 'ping', 90_000);
    fill('tcp');
    pass(7_000);

    expect(load.hasCapacity(probe(), 'tcp')).toBe(true);
    expect(load.size()).toBe(1);
  });

  it('is at most 256 jobs at an agent that connects to Redis, taken ones included, whatever its capacity', () => {
    const { load } = bed();
    const large = { load: { running: 0, capacity: 1_000 } } as NonNullable<KnownProbe['heartbeat']>;
    const withQueued = (queued: number | undefined): KnownProbe => ({ ...probe(), heartbeat: large, queued });
    const has = (queued: number | undefined): boolean => load.hasCapacity(withQueued(queued), 'tcp');

    expect([has(MOST_QUEUED - 1), has(MOST_QUEUED), has(undefined)]).toEqual([true, false, true]);
    // Jobs that were dispatched since the queue was last read.
    for (let index = 0; index < MOST_QUEUED; index += 1) load.added(`check-${index}`, ['fra'], 'tcp', 7_000);
    expect([has(0), has(undefined)]).toEqual([false, true]);
  });

  it('counts what other coordinators have put into its queue', () => {
    const { load, fill } = bed();
    fill('tcp', 1);

    expect(load.hasCapacity(probe(10), 'tcp')).toBe(true);
    expect(load.hasCapacity(probe(1_000), 'tcp')).toBe(false);
  });

  it('has the duration of an unknown probe again after its removal, though its jobs end later', () => {
    const { load, fill, end, pass } = bed();
    const [first] = fill('tcp', 1);
    pass(60_000);
    end(first!);
    expect(fill('tcp')).toHaveLength(15);

    load.forget('fra');
    const jobs = fill('tcp');
    load.forget('fra');
    jobs.forEach(end);

    expect(jobs.length).toBeGreaterThan(15);
    expect(fill('tcp')).toHaveLength(jobs.length);
  });
});
