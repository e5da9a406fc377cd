import { describe, expect, it } from '@jest/globals';

import { createRemoteClock } from './remote-clock.ts';

const EPOCH_MS = 1_800_000_000_000;

/** A clock, and replies to it with given round trips and times. */
function line(keepMs: number): {
  readonly clock: ReturnType<typeof createRemoteClock>;
  readonly errorMs: () => number;
  readonly reply: (rttMs: number, waitedThereMs?: number) => void;
  readonly pass: (ms: number) => void;
  readonly step: (ms: number) => void;
} {
  let [monotonicMs, remoteMs] = [1_000, EPOCH_MS];
  const pass = (ms: number): void => {
    monotonicMs += ms;
    remoteMs += ms;
  };
  const clock = createRemoteClock(keepMs, () => monotonicMs);
  return {
    clock,
    errorMs: () => clock.now() - remoteMs,
    reply: (rttMs, thereMs = rttMs / 2) => {
      const sentMs = monotonicMs;
      pass(thereMs);
      const told = remoteMs;
      pass(rttMs - thereMs);
      clock.observe(told, sentMs);
    },
    pass,
    step: (ms) => {
      remoteMs += ms;
    },
  };
}

describe('the clock of another machine', () => {
  it('is the local clock before the first reply', () => {
    const { clock } = line(5_000);

    expect(clock.hasReply()).toBe(false);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
  });

  it('is wrong by at most half of the round trip, whichever way took it', () => {
    const { errorMs, reply, pass } = line(5_000);
    reply(40, 40);
    expect(errorMs()).toBe(20);

    pass(6_000);
    reply(40, 0);
    expect(errorMs()).toBe(-20);
  });

  it('stays that of a fast reply until this is too old', () => {
    const { errorMs, reply, pass } = line(5_000);
    reply(2);
    pass(3_000);
    reply(1_000, 1_000);
    expect(errorMs()).toBe(0);

    pass(3_000);
    reply(1_000, 1_000);
    expect(errorMs()).toBe(500);
  });

  it.each([3_600_000, -3_600_000, 600, -600])('follows a step of %d ms that a slow reply proves', (ms) => {
    const { errorMs, reply, step } = line(300_000);
    reply(2);
    step(ms);
    reply(1_000);

    expect(errorMs()).toBe(0);
  });

  it('takes no drift for a step', () => {
    const { errorMs, reply, pass, step } = line(300_000);
    reply(2);
    pass(250_000);
    step(80);
    reply(20);

    expect(errorMs()).toBe(-80);
  });
});
