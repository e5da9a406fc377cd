import { describe, expect, it } from '@jest/globals';

import { createAgentClock } from './clock.ts';

/** A server whose clock is at `serverMs` in the middle of a round trip of `rttMs`. */
function line(): { monotonicMs: number; rttMs: number; serverMs: number; readonly read: () => Promise<string[]> } {
  const state = {
    monotonicMs: 1_000,
    rttMs: 40,
    serverMs: 1_800_000_000_000,
    read: async () => {
      state.monotonicMs += state.rttMs;
      return [String(Math.floor(state.serverMs / 1_000)), String((state.serverMs % 1_000) * 1_000)];
    },
  };
  return state;
}

describe('the clock of Redis', () => {
  it('takes the reading for the middle of its round trip and goes on from there', async () => {
    const server = line();
    const clock = createAgentClock(server.read, () => server.monotonicMs);

    await clock.read();
    const atAnswer = clock.now();
    server.monotonicMs += 500;

    expect(atAnswer).toBe(server.serverMs + 20);
    expect(clock.now()).toBe(server.serverMs + 520);
    expect(clock.rttMs()).toBe(40);
  });

  it('does not let a slow reading replace a quick one', async () => {
    const server = line();
    const clock = createAgentClock(server.read, () => server.monotonicMs);
    await clock.read();
    const before = clock.now() - server.monotonicMs;

    server.rttMs = 3_000;
    await clock.read();

    expect(clock.now() - server.monotonicMs).toBe(before);
  });

  it('has the round trip of quick readings while one is held up, and that of slow ones when they stay slow', async () => {
    const server = line();
    const clock = createAgentClock(server.read, () => server.monotonicMs);
    await clock.read();
    server.rttMs = 1_500;
    await clock.read();
    expect(clock.rttMs()).toBe(40);

    server.rttMs = 200;
    await clock.read();
    await clock.read();

    expect(clock.rttMs()).toBe(200);
  });

  it('believes a new server at once, however slow its answer', async () => {
    const server = line();
    const clock = createAgentClock(server.read, () => server.monotonicMs);
    await clock.read();

    server.rttMs = 3_000;
    server.serverMs += 3_600_000;
    await clock.read(true);

    expect(clock.now()).toBe(server.serverMs + 1_500);
  });

  it.each([3_600_000, -3_600_000, 2_000])('follows a step of %d ms, even by a slow reading', async (stepMs) => {
    const server = line();
    const clock = createAgentClock(server.read, () => server.monotonicMs);
    await clock.read();

    server.rttMs = 120;
    server.serverMs += stepMs;
    await clock.read();

    expect(clock.now()).toBe(server.serverMs + 60);
  });

  it('keeps its reading when a new one fails', async () => {
    const server = line();
    let fails = false;
    const read = async (): Promise<string[]> => {
      if (fails) throw new Error('LOADING');
      return server.read();
    };
    const clock = createAgentClock(read, () => server.monotonicMs);
    await clock.read();
    const before = clock.now();

    fails = true;
    await expect(clock.read()).rejects.toThrow('LOADING');

    expect(clock.now()).toBe(before);
  });
});
