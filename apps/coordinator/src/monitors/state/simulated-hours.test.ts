import { seeded, type Random } from '@vantage/test-support/random/seeded';
import { describe, expect, it } from '@jest/globals';
import type { RunAtProbe } from '@vantage/contract';
import { cases } from '@vantage/test-support/random/case-count';

import { readAlarm, type AlarmRule } from '../definition.ts';
import type { MonitorState, TickOutcome } from './monitor-state.ts';
import { reduce } from './reduce.ts';

const HOURS = cases(1_200);
/** Ticks of a simulated hour: a fifth of the real sixty, to be faster. */
const TICKS_AN_HOUR = 12;
const rule = readAlarm({ when: '3 of 5', networks: 2, for: 2 })!;
const networks = ['AS1', 'AS2', 'AS2', 'AS3', 'AS4'];

type Letter = 'ok' | 'failing' | 'unmeasured';

/** A probe that works or fails, and changes at each tick with the given probability. */
function flapper(draw: Random): (chance: number) => Letter {
  let fails = false;
  return (chance) => {
    if (draw() < chance) fails = !fails;
    return fails ? 'failing' : 'ok';
  };
}

function outcomeOf(tick: number, letters: readonly Letter[]): TickOutcome {
  const probes: Record<string, RunAtProbe & { network: string; country: string }> = {};
  for (const [index, state] of letters.entries()) {
    const result = { reason: null, rtt: null, loss: null, certificateDays: null, status: null };
    probes[`probe-${index}`] = { ...result, state, network: networks[index]!, country: 'DE' };
  }
  return { tick, atMs: tick * 60_000, headline: null, probes };
}

/** Probability per tick that a flapping probe changes its state; each applies for a hundred hours, in turns. */
const CHANCES = [0.2, 0.35, 0.5];

/** The network begins to flap when the probe is known as flapping: both in the same hour would look like an outage. */
const NETWORK_FROM_TICK = 120;

/** Creates a function that returns the state of each probe at a tick. */
type Shape = (draw: Random) => (tick: number, chance: number) => readonly Letter[];

/** One probe flaps from the start, a network with two more later. */
const flapping: Shape = (draw) => {
  const [probe, network] = [flapper(draw), flapper(draw)];
  return (tick, chance) => {
    const ofNetwork = tick > NETWORK_FROM_TICK ? network(chance) : 'ok';
    return [probe(chance), ofNetwork, ofNetwork, 'ok', 'ok'];
  };
};

/** As `flapping`, and after twice `NETWORK_FROM_TICK` half of the results, at random, are missing. */
const halfUnmeasured: Shape = (draw) => {
  const letters = flapping(draw);
  return (tick, chance) =>
    letters(tick, chance).map((letter) => (tick > NETWORK_FROM_TICK * 2 && draw() < 0.5 ? 'unmeasured' : letter));
};

/**
 * As `flapping`, and after twice `NETWORK_FROM_TICK` the two steady probes are unmeasured for an hour of every 50
 * ticks.
 */
const witnessesAway: Shape = (draw) => {
  const letters = flapping(draw);
  return (tick, chance) =>
    letters(tick, chance).map((letter, index) =>
      tick > NETWORK_FROM_TICK * 2 && index > 2 && tick % 50 < TICKS_AN_HOUR ? 'unmeasured' : letter,
    );
};

/** A probe whose RTT is always above the bound, and one that flaps. */
const slow: Shape = (draw) => {
  const probe = flapper(draw);
  return (_tick, chance) => ['failing', probe(chance), 'ok', 'ok', 'ok'];
};

/** As `flapping`, but the network pauses for a hundred of 400 ticks: it is known, forgotten, and known again. */
const inTurns: Shape = (draw) => {
  const letters = flapping(draw);
  return (tick, chance) => {
    const now = letters(tick, chance);
    return tick % 400 < 300 ? now : [now[0]!, 'ok', 'ok', 'ok', 'ok'];
  };
};

const shapes: readonly (readonly [string, Shape, AlarmRule])[] = [
  ['a flapping probe and a flapping network', flapping, rule],
  ['the same with every second result missing', halfUnmeasured, rule],
  ['the same while the steady probes are away', witnessesAway, rule],
  ['the same with a rest of the network now and then', inTurns, rule],
  ['a slow probe and a flapping one', slow, rule],
  ['the shortest alarm', flapping, readAlarm({ when: '3 of 5', networks: 2, for: 1 })!],
  ['the longest alarm', flapping, readAlarm({ when: '3 of 5', networks: 2, for: 10 })!],
  ['an alarm that wants more probes than there are', flapping, readAlarm({ when: '6 of 10', networks: 2 })!],
  ['an alarm of two fifths in two networks', slow, readAlarm({ when: '2 of 5', networks: 3 })!],
];

describe('simulated hours', () => {
  it.each(shapes)(
    'raise no alarm: %s',
    (_what, shape, by) => {
      const draw = seeded(17);
      const letters = shape(draw);
      let state: MonitorState | undefined;
      let [alarms, together] = [0, 0];
      for (let tick = 1; tick <= HOURS * TICKS_AN_HOUR; tick += 1) {
        const chance = CHANCES[Math.floor(tick / TICKS_AN_HOUR / 100) % CHANCES.length]!;
        const now = letters(tick, chance);
        if (now.filter((letter) => letter === 'failing').length >= 2) together += 1;
        const step = reduce(state, outcomeOf(tick, now), by);
        if (step.state.state === 'bad' && state?.state !== 'bad') alarms += 1;
        state = step.state;
      }

      // In many ticks two or more probes fail, so an alarm by chance is possible.
      expect(together).toBeGreaterThan(1_000);
      expect(alarms).toBe(0);
    },
    300_000,
  );
});

/** Probes that fail in a real outage, and what the others do. */
const outages: readonly (readonly [string, readonly number[], Shape, AlarmRule])[] = [
  ['while a probe flaps', [1, 2, 3], (draw) => withFlapper(flapper(draw)), rule],
  ['while a probe is slow', [1, 2, 3], () => () => ['failing', 'ok', 'ok', 'ok', 'ok'], rule],
  ['while a network flaps', [0, 3, 4], (draw) => withNetwork(flapper(draw)), rule],
  ['while two places are unmeasured', [0, 1, 3], () => () => ['ok', 'ok', 'unmeasured', 'ok', 'unmeasured'], rule],
  ['of all while a place is unmeasured now and then', [0, 1, 2, 3, 4], (draw) => sometimesAway(draw), rule],
  ['if an alarm wants more probes than there are', [0, 1, 3], () => () => allOk, readAlarm({ when: '6 of 10' })!],
];
const allOk: readonly Letter[] = ['ok', 'ok', 'ok', 'ok', 'ok'];

function withFlapper(probe: (chance: number) => Letter): ReturnType<Shape> {
  return (_tick, chance) => [probe(chance), 'ok', 'ok', 'ok', 'ok'];
}

function withNetwork(network: (chance: number) => Letter): ReturnType<Shape> {
  return (_tick, chance) => {
    const letter = network(chance);
    return ['ok', letter, letter, 'ok', 'ok'];
  };
}

function sometimesAway(draw: Random): ReturnType<Shape> {
  return () => {
    const away = Math.floor(draw() * networks.length);
    return allOk.map((letter, index) => (index === away ? 'unmeasured' : letter));
  };
}

describe('a simulated outage', () => {
  it.each(outages)('is found at its second tick: %s', (_what, failing, shape, by) => {
    const draw = seeded(23);
    for (let round = 0; round < cases(25); round += 1) {
      const letters = shape(draw);
      const begins = 100 + Math.floor(draw() * 100);
      let state: MonitorState | undefined;
      let foundAt: number | undefined;
      for (let tick = 1; tick < begins + 5 && foundAt === undefined; tick += 1) {
        const now = letters(tick, 0.4).map((letter, index) =>
          letter !== 'unmeasured' && tick >= begins && failing.includes(index) ? 'failing' : letter,
        );
        state = reduce(state, outcomeOf(tick, now), by).state;
        if (state.state === 'bad') foundAt = tick;
      }
      expect(foundAt).toBe(begins + 1);
    }
  });
});
