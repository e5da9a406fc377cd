import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { createResults, type Results, type ResultsOptions } from './results.ts';
import { silent } from '../test/silent.ts';
import { eventually } from '../test/eventually.ts';

let results: Results;

afterEach(() => results.close());

/** A fake Redis that can be unavailable, or refuse writes. */
function store(options: Partial<ResultsOptions> = {}): {
  up: boolean;
  refuses: boolean;
  now: number;
  notifications: number;
  /** Payloads of the notifications. */
  readonly told: string[];
  readonly written: string[];
} {
  const state = { up: true, refuses: false, now: 0, notifications: 0, written: [] as string[], told: [] as string[] };
  results = createResults({
    writer: {
      isReady: () => state.up,
      append: async (check, kind, data, png) => {
        await sleep(1);
        if (!state.up) throw new Error('Connection is closed.');
        if (state.refuses) throw new Error('OOM command not allowed');
        const picture = png === undefined ? '' : ` ${Buffer.from(png).toString()}`;
        state.written.push(`${check} ${kind} ${data}${picture}`);
      },
      notify: async (final) => {
        state.notifications += 1;
        state.told.push(final === undefined ? '-' : `${final.check} ${final.data}`);
      },
    },
    now: () => state.now,
    log: silent,
    ...options,
  });
  return state;
}

const soon = 10_000;

describe('results on their way to Redis', () => {
  it('are confirmed once they are written, in order, with fewer notifications than results', async () => {
    const redis = store();

    const checks = Array.from({ length: 60 }, (_, index) => `check-${index}`);

    await Promise.all(checks.map((check) => results.final(check, '{}', soon)));

    expect(redis.written).toEqual(checks.map((check) => `${check} final {}`));
    // One notification at once, then combined ones.
    await eventually(() => (redis.notifications > 1 ? true : undefined));
    expect(redis.notifications).toBeLessThan(checks.length / 2);
  });

  it('go along with the notification where one comes alone, and not where it is a partial one', async () => {
    const alone = store();
    await results.final('a', '{}', soon);
    results.close();
    const partial = store();
    results.partial('b', '{}', soon);
    await eventually(() => (partial.written.length === 1 ? true : undefined));

    expect(alone.told).toEqual(['a {}']);
    expect(partial.told).toEqual(['-']);
  });

  it('are left out of a notification of several results', async () => {
    const redis = store();
    redis.up = false;
    const written = [results.final('a', '{}', soon), results.final('b', '{}', soon)];

    redis.up = true;
    results.resume();
    await Promise.all(written);

    expect(redis.told).toEqual(['-']);
  });

  it('wait while Redis is away and are all sent when it is back', async () => {
    const redis = store();
    redis.up = false;
    const written = [results.final('a', '1', soon), results.final('b', '2', soon)];
    expect(redis.written).toEqual([]);

    redis.up = true;
    results.resume();
    await Promise.all(written);

    expect(redis.written).toEqual(['a final 1', 'b final 2']);
  });

  it('are sent again when the connection broke while they were sent', async () => {
    const redis = store();
    const written = results.final('a', '1', soon);
    redis.up = false;
    await sleep(10);

    redis.up = true;
    results.resume();
    await written;

    expect(redis.written).toEqual(['a final 1']);
  });

  it('are tried again after a while when Redis refuses them', async () => {
    const redis = store();
    redis.refuses = true;
    const written = results.final('a', '1', soon);
    await sleep(20);
    redis.refuses = false;

    await written;

    expect(redis.written).toEqual(['a final 1']);
  });

  it('keep only the newest partial state of a check, and none once there is a final one', async () => {
    const redis = store();
    redis.up = false;
    results.partial('a', '1', soon);
    results.partial('b', '1', soon);
    results.partial('a', '2', soon);
    results.partial('b', '2', soon);
    const written = results.final('a', '3', soon);

    redis.up = true;
    results.resume();
    await written;

    expect(redis.written).toEqual(['b partial 2', 'a final 3']);
  });

  it('are dropped some seconds after their deadline', async () => {
    const redis = store();
    redis.up = false;
    const late = results.final('a', '1', 1_000);
    const good = results.final('b', '2', soon);

    redis.now = 8_000;
    redis.up = true;
    results.resume();
    await Promise.all([late, good]);

    expect(redis.written).toEqual(['b final 2']);
  });

  it('are bounded: partial states go first, then the oldest', async () => {
    const redis = store({ maxBytes: 20 });
    redis.up = false;
    results.partial('p', '12345', soon);
    void results.final('a', '1234567890', soon);
    void results.final('b', '1234567890', soon);
    void results.final('c', '1234567890', soon);

    redis.up = true;
    results.resume();
    await results.flush(AbortSignal.timeout(40_000));

    expect(redis.written).toEqual(['b final 1234567890', 'c final 1234567890']);
  });

  it('are not waited for longer than the signal says', async () => {
    const redis = store();
    redis.up = false;
    void results.final('a', '1', soon);

    await results.flush(AbortSignal.timeout(20));

    expect(redis.written).toEqual([]);
  });

  it('carry the screenshot of a check as it is, or why there is none', async () => {
    const redis = store();
    const failure = { code: 'timed_out', phase: 'response', source: 'target', message: 'No.' } as const;

    await results.screenshot('a', { png: Buffer.from('bytes'), failure: null }, soon);
    await results.screenshot('b', { png: null, failure }, soon);

    expect(redis.written).toEqual([
      'a screenshot {"failure":null} bytes',
      `b screenshot ${JSON.stringify({ failure })}`,
    ]);
  });

  it('go before pictures, which replace no result of their check', async () => {
    const redis = store();
    redis.up = false;
    results.partial('a', 'so far', soon);
    const picture = results.screenshot('a', { png: Buffer.from('large'), failure: null }, soon);
    const final = results.final('b', 'done', soon);

    redis.up = true;
    results.resume();
    await Promise.all([picture, final]);

    expect(redis.written).toEqual(['a partial so far', 'b final done', 'a screenshot {"failure":null} large']);
  });

  it('wait for none of many screenshots that are on their way, of which only two are kept beyond the limit', async () => {
    const [sent, ends] = [[] as string[], [] as (() => void)[]];
    const writer = {
      isReady: () => true,
      append: (check: string, kind: string) => {
        sent.push(`${check} ${kind}`);
        return kind === 'final' ? Promise.resolve() : new Promise<void>((resolve) => void ends.push(resolve));
      },
      notify: async () => undefined,
    };
    results = createResults({ writer, now: () => 0, log: silent, maxBytes: 1_000 });
    const png = Buffer.alloc(100);
    const screenshots = Array.from({ length: 100 }, (_, n) =>
      results.screenshot(`p${n}`, { png, failure: null }, soon),
    );
    let dropped = 0;
    for (const picture of screenshots) void picture.then(() => (dropped += 1));

    await results.final('small', '1', soon);
    await eventually(() => (dropped > 90 ? true : undefined));

    expect(sent).toEqual(['p0 screenshot', 'p1 screenshot', 'small final']);
    for (const end of ends) end();
  });

  it('outlast pictures when there is no room', async () => {
    const redis = store({ maxBytes: 200 });
    redis.up = false;
    const picture = results.screenshot('a', { png: Buffer.alloc(150), failure: null }, soon);
    const final = results.final('b', 'x'.repeat(100), soon);
    await picture;

    redis.up = true;
    results.resume();
    await final;

    expect(redis.written).toEqual([`b final ${'x'.repeat(100)}`]);
  });
});
