import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createNotifier, type Notifier } from './notifier.ts';
import { createPace, type Pace } from './pace.ts';

let notifier: Notifier<string>;

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  notifier.close();
  jest.useRealTimers();
});

function paceOf(isDense: boolean): Pace {
  return { noteRaised: () => undefined, noteGathered: () => undefined, isDense: () => isDense };
}

function counted(isDense: boolean): () => number {
  let given = 0;
  notifier = createNotifier(() => (given += 1), paceOf(isDense));
  return () => given;
}

describe('the notifier that there are results', () => {
  it('is given at once, and once for all that follow closely', () => {
    const given = counted(false);

    for (let raised = 0; raised < 10; raised += 1) notifier.raise();
    expect(given()).toBe(1);
    jest.advanceTimersByTime(5);
    expect(given()).toBe(2);
    jest.advanceTimersByTime(1_000);

    expect(given()).toBe(2);
  });

  it('is given at once again after a while', () => {
    const given = counted(false);
    notifier.raise();
    jest.advanceTimersByTime(50);

    notifier.raise();

    expect(given()).toBe(2);
  });

  it('has a note only where it is given for that alone', () => {
    const notes: (string | undefined)[] = [];
    notifier = createNotifier<string>((note) => notes.push(note), paceOf(false));

    notifier.raise('first');
    notifier.raise('second');
    notifier.raise('third');
    jest.advanceTimersByTime(50);

    expect(notes).toEqual(['first', undefined]);
  });

  it('keeps the note of one that had to wait, unless others have joined it', () => {
    const notes: (string | undefined)[] = [];
    notifier = createNotifier<string>((note) => notes.push(note), paceOf(false));

    // Every four milliseconds, as at 250 results a second: each but the first is within the gap.
    for (const note of ['first', 'second', 'third', 'fourth']) {
      notifier.raise(note);
      jest.advanceTimersByTime(4);
    }
    jest.advanceTimersByTime(50);

    expect(notes).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('waits for those that follow at a dense pace, and is given once for all of them', () => {
    const given = counted(true);

    for (let raised = 0; raised < 10; raised += 1) notifier.raise();
    expect(given()).toBe(0);
    jest.advanceTimersByTime(8);
    expect(given()).toBe(1);
    jest.advanceTimersByTime(1_000);

    expect(given()).toBe(1);
  });

  it('tells of results that come fast to a busy process in few signals, and of each that is waited for at once', () => {
    let given = 0;
    const busy = createPace(undefined, () => 1);
    notifier = createNotifier(() => (given += 1), busy);
    for (let result = 0; result < 200; result += 1) {
      notifier.raise();
      jest.advanceTimersByTime(5);
    }
    expect(given).toBeLessThan(60);

    jest.advanceTimersByTime(1_000);
    let waited = 0;
    given = 0;
    for (let result = 0; result < 1_000; result += 1) {
      const before = given;
      notifier.raise();
      for (; given === before; waited += 1) jest.advanceTimersByTime(1);
      jest.advanceTimersByTime(6);
    }
    expect(waited).toBeLessThan(200);
  });

  it('is given early at the end, and not twice', () => {
    const given = counted(true);
    notifier.raise();

    notifier.flush();
    expect(given()).toBe(1);
    notifier.flush();
    jest.advanceTimersByTime(50);

    expect(given()).toBe(1);
  });
});
