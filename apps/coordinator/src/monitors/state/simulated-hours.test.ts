import { describe, expect, it } from '@jest/globals';
import type { RunAtProbe } from '@vantage/contract';

import { readAlarm } from '../definition.ts';
import { reduce, type MonitorState, type TickOutcome } from './reduce.ts';

const HOURS = 10_000;
/** The benchmark has sixty. */
const TICKS_AN_HOUR = 12;
const rule = readAlarm({ when: '3 of 5', networks: 2, for: 2 })!;
const networks = ['AS1', 'AS2', 'AS2', 'AS3', 'AS4'];

/** Reproducible numbers from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Fails and recovers, each tick with a chance of a change. */
function flapper(draw: () => number): (chance: number) => boolean {
  let fails = false;
  return (chance) => {
    if (draw() < chance) fails = !fails;
    return fails;
  };
}

function outcomeOf(tick: number, failing: readonly boolean[]): TickOutcome {
  const probes: Record<string, RunAtProbe & { network: string; country: string }> = {};
  for (const [index, fails] of failing.entries()) {
    const result = { reason: null, rtt: null, loss: null, certificateDays: null, status: null };
    probes[`probe-${index}`] = { ...result, state: fails ? 'failing' : 'ok', network: networks[index]!, country: 'DE' };
  }
  return { tick, atMs: tick * 60_000, headline: null, probes };
}

/** Chances of a change at a tick, one after the other for a hundred hours each. */
const CHANCES = [0.2, 0.35, 0.5];

/** Two that begin to flap in the same hour look like an outage; the network begins when the probe is known. */
const NETWORK_FROM_TICK = 120;

/** One probe flaps from the start, a network with two more later. */
function flapping(seed: number): (tick: number) => boolean[] {
  const draw = random(seed);
  const [probe, network] = [flapper(draw), flapper(draw)];
  return (tick) => {
    const chance = CHANCES[Math.floor(tick / TICKS_AN_HOUR / 100) % CHANCES.length]!;
    const ofNetwork = tick > NETWORK_FROM_TICK && network(chance);
    return [probe(chance), ofNetwork, ofNetwork, false, false];
  };
}

describe('simulated hours', () => {
  it(`a flapping probe and a flapping network raise no alarm in ${HOURS} hours`, () => {
    const failing = flapping(17);
    let state: MonitorState | undefined;
    let [alarms, together] = [0, 0];
    for (let tick = 1; tick <= HOURS * TICKS_AN_HOUR; tick += 1) {
      const now = failing(tick);
      if (now.filter(Boolean).length >= 3) together += 1;
      const step = reduce(state, outcomeOf(tick, now), rule);
      if (step.state.state === 'bad' && state?.state !== 'bad') alarms += 1;
      state = step.state;
    }

    // Counted alone, three of five fail together again and again.
    expect(together).toBeGreaterThan(1_000);
    expect(alarms).toBe(0);
  }, 300_000);

  it('an outage of three of five is found at its second tick, also while a probe flaps', () => {
    const draw = random(23);
    for (let round = 0; round < 500; round += 1) {
      const probe = flapper(draw);
      const begins = 100 + Math.floor(draw() * 100);
      let state: MonitorState | undefined;
      let foundAt: number | undefined;
      for (let tick = 1; tick < begins + 5 && foundAt === undefined; tick += 1) {
        const isOut = tick >= begins;
        state = reduce(state, outcomeOf(tick, [probe(0.4), isOut, isOut, isOut, false]), rule).state;
        if (state.state === 'bad') foundAt = tick;
      }
      expect(foundAt).toBe(begins + 1);
    }
  });
});
