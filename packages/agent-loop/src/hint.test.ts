import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createHint, type Hint } from './hint.ts';
import { createPace, type Pace } from './pace.ts';

let hint: Hint<string>;

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  hint.close();
  jest.useRealTimers();
});

function paceOf(isDense: boolean): Pace {
  return { noteRaised: () => undefined, noteGathered: () => undefined, isDense: () => isDense };
}

function counted(isDense: boolean): () => number {
  let given = 0;
  hint = createHint(() => (given += 1), paceOf(isDense));
  return () => given;
}

describe('the hint that there are results', () => {
  it('is given at once, and once for all that follow closely', () => {
    const given = counted(false);

    for (let raised = 0; raised < 10; raised += 1) hint.raise();
    expect(given()).toBe(1);
    jest.advanceTimersByTime(5);
    expect(given()).toBe(2);
    jest.advanceTimersByTime(1_000);

    expect(given()).toBe(2);
  });

  it('is given at once again after a while', () => {
    const given = counted(false);
    hint.raise();
    jest.advanceTimersByTime(50);

    hint.raise();

    expect(given()).toBe(2);
  });

  it('has a note only where it is given at once, for that alone', () => {
    const notes: (string | undefined)[] = [];
    hint = createHint<string>((note) => notes.push(note), paceOf(false));

    hint.raise('first');
    hint.raise('second');
    hint.raise('third');
    jest.advanceTimersByTime(50);

    expect(notes).toEqual(['first', undefined]);
  });

  it('waits for those that follow at a dense pace, and is given once for all of them', () => {
    const given = counted(true);

    for (let raised = 0; raised < 10; raised += 1) hint.raise();
    expect(given()).toBe(0);
    jest.advanceTimersByTime(8);
    expect(given()).toBe(1);
    jest.advanceTimersByTime(1_000);

    expect(given()).toBe(1);
  });

  it('tells of results that come fast to a busy process in few signals, and of each that is waited for at once', () => {
    let given = 0;
    const busy = createPace(undefined, () => 1);
    hint = createHint(() => (given += 1), busy);
    for (let result = 0; result < 200; result += 1) {
      hint.raise();
      jest.advanceTimersByTime(5);
    }
    expect(given).toBeLessThan(60);

    jest.advanceTimersByTime(1_000);
    let waited = 0;
    given = 0;
    for (let result = 0; result < 1_000; result += 1) {
      const before = given;
      hint.raise();
      for (; given === before; waited += 1) jest.advanceTimersByTime(1);
      jest.advanceTimersByTime(6);
    }
    expect(waited).toBeLessThan(200);
  });

  it('is given early at the end, and not twice', () => {
    const given = counted(true);
    hint.raise();

    hint.flush();
    expect(given()).toBe(1);
    hint.flush();
    jest.advanceTimersByTime(50);

    expect(given()).toBe(1);
  });
});
