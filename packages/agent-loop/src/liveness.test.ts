import { LONGEST_CHECK_MS } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { silent } from '../test/silent.ts';
import { createLiveness, type Liveness, type LivenessParts } from './liveness.ts';

let liveness: Liveness;
let turns: number;
let reconnects: number;
let endings: number;

beforeEach(() => {
  jest.useFakeTimers();
  [turns, reconnects, endings] = [0, 0, 0];
});

afterEach(() => {
  liveness.stop();
  jest.useRealTimers();
});

function watch(overrides: Partial<LivenessParts> = {}): void {
  liveness = createLiveness({
    turns: () => turns,
    isFull: () => false,
    isConnected: () => true,
    reconnect: () => (reconnects += 1),
    giveUp: () => (endings += 1),
    log: silent,
    ...overrides,
  });
  liveness.start();
}

function pass(seconds: number, each: () => void = () => undefined): void {
  for (let second = 0; second < seconds; second += 1) {
    each();
    jest.advanceTimersByTime(1_000);
  }
}

describe('the liveness of the job loop', () => {
  it('is not doubted while it turns, however slowly', () => {
    watch();
    let second = 0;
    pass(100, () => (second += 1) % 5 === 0 && (turns += 1));

    expect([liveness.reason(), reconnects, endings]).toEqual([undefined, 0, 0]);
  });

  it('is not doubted while all places are taken by jobs of the longest check', () => {
    watch({ isFull: () => true });
    pass(LONGEST_CHECK_MS / 1_000 + 5);

    expect([liveness.reason(), reconnects, endings]).toEqual([undefined, 0, 0]);
  });

  it('has its time again when a place becomes free', () => {
    let isFull = true;
    watch({ isFull: () => isFull });
    pass(70);
    isFull = false;
    pass(9);

    expect([liveness.reason(), reconnects, endings]).toEqual([undefined, 0, 0]);
  });

  it('is doubted when the jobs in all places do not end, and given up in the end', () => {
    watch({ isFull: () => true });
    const full = LONGEST_CHECK_MS / 1_000 + 15;
    pass(full + 2);
    expect(liveness.reason()).toBe(
      `It has taken no jobs for ${full + 1} seconds: the jobs in all of its places do not end.`,
    );
    expect(endings).toBe(0);

    pass(20);
    expect(endings).toBe(1);
  });

  it('is doubted after ten seconds without a turn: the reason is given and connections are replaced', () => {
    watch();
    pass(10);

    expect(liveness.reason()).toContain('has taken no jobs for 9 seconds');
    expect([reconnects, endings]).toEqual([1, 0]);
  });

  it('is trusted again at the next turn', () => {
    watch();
    pass(15);
    turns += 1;
    pass(1);

    expect(liveness.reason()).toBeUndefined();
  });

  it('is given up half a minute later, if Redis can be reached', () => {
    watch();
    pass(31);

    expect(endings).toBe(1);
  });

  it('is not given up while Redis is away: what was measured is kept for its return', () => {
    watch({ isConnected: () => false });
    pass(120);

    expect(endings).toBe(0);
  });
});
