import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createPartials, type PartialsOfProbe } from './partials.ts';

let partials: PartialsOfProbe;
let shown: string[];
const show = (state: string): void => void shown.push(`${performance.now()} ${state}`);

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
  shown = [];
  partials = createPartials();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('the partial results of a probe', () => {
  it('show the first state at once, or what came in the moment after it', () => {
    const run = partials.open(show);
    run.offer('a');
    jest.advanceTimersByTime(20);
    run.offer('b');
    jest.advanceTimersByTime(1_000);

    expect(shown).toEqual(['50 b']);
  });

  it('show the newest state once in an interval', () => {
    const run = partials.open(show);
    for (let ms = 0; ms < 1_000; ms += 10) {
      run.offer(`state of ${ms}`);
      jest.advanceTimersByTime(10);
    }

    expect(shown).toEqual(['50 state of 40', '300 state of 290', '550 state of 540', '800 state of 790']);
  });

  it('show nothing of a run that is done at once', () => {
    const run = partials.open(show);
    run.offer('a');
    jest.advanceTimersByTime(49);
    run.close();
    run.offer('b');
    jest.advanceTimersByTime(1_000);

    expect(shown).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('show a state that comes with the end of its run only in the result', () => {
    const run = partials.open(show);
    run.offer('a');
    jest.advanceTimersByTime(500);
    run.offer('b');
    run.close();
    jest.advanceTimersByTime(1_000);

    expect(shown).toEqual(['50 a']);
  });

  it('show the states of all runs together', () => {
    const [first, second, third] = [partials.open(show), partials.open(show), partials.open(show)];
    first.offer('first');
    jest.advanceTimersByTime(60);
    second.offer('second');
    jest.advanceTimersByTime(20);
    first.offer('first again');
    jest.advanceTimersByTime(190);
    third.offer('third');
    jest.advanceTimersByTime(1_000);

    // The third is too new when the others are shown, and waits for the next time.
    expect(shown).toEqual(['50 first', '300 second', '300 first again', '550 third']);
  });

  it('never wait a negative time, at which Node warns, though the process stands still meanwhile', () => {
    const waits = jest.spyOn(globalThis, 'setTimeout');
    const [first, second] = [partials.open(() => jest.advanceTimersByTime(300)), partials.open(show)];
    first.offer('first');
    jest.advanceTimersByTime(40);
    second.offer('second');
    jest.advanceTimersByTime(1_000);

    expect(waits.mock.calls.map(([, ms]) => ms)).toEqual([50, 0]);
    expect(shown).toEqual(['350 second']);
  });

  it('show those of a run while another one ends', () => {
    const [first, second] = [partials.open(show), partials.open(show)];
    first.offer('first');
    jest.advanceTimersByTime(30);
    second.offer('second');
    first.close();
    jest.advanceTimersByTime(1_000);

    expect(shown).toEqual(['80 second']);
  });
});
