import { MAX_RESULT_BYTES, MAX_SCREENSHOT_BYTES, screenshotJobId } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { createAgentRates, type AgentRate } from './agent-rates.ts';

const MIB = 1024 * 1024;
const MESSAGE = 30 * 1024;

function createClock(): { readonly rates: ReturnType<typeof createAgentRates>; readonly pass: (ms: number) => void } {
  let now = 0;
  return { rates: createAgentRates(() => now), pass: (ms) => (now += ms) };
}

/** Sends until the rate requires a pause; returns the bytes sent. */
function flood(rate: AgentRate, bytes = MESSAGE): number {
  let sent = 0;
  for (let pauseMs = rate.take(0); pauseMs === 0; pauseMs = rate.take(bytes)) sent += bytes;
  return sent;
}

/** Lets all agents send as fast as their rates allow for this many seconds; returns the bytes of all of them. */
function floodAll(thieves: readonly AgentRate[], seconds: number, pass: (ms: number) => void): number {
  let sent = 0;
  for (let ms = 0; ms < seconds * 1_000; ms += 50) {
    for (const thief of thieves) sent += flood(thief);
    pass(50);
  }
  return sent;
}

describe('the rates of the agents of a gateway', () => {
  it('bound what twenty send without end to a rate of each and a common one', () => {
    const { rates, pass } = createClock();
    const thieves = Array.from({ length: 20 }, (_, index) => rates.open(`stolen-${index}`));

    floodAll(thieves, 2, pass);
    const sent = floodAll(thieves, 10, pass);

    expect(sent / MIB).toBeGreaterThan(10 * (20 / 4 + 2) - 2);
    expect(sent / MIB).toBeLessThan(10 * (20 / 4 + 2) + 2);
  });

  it('let an agent send the results of its jobs at any rate meanwhile', () => {
    const { rates, pass } = createClock();
    const thieves = Array.from({ length: 20 }, (_, index) => rates.open(`stolen-${index}`));
    floodAll(thieves, 2, pass);
    const honest = rates.open('honest');
    const pauses: number[] = [];
    // Completes 300 checks within a second, 20 at a time, each with two partial results and the largest final one.
    for (let job = 0; job < 300; job += 1) {
      honest.give(`job-${job}`);
      for (const bytes of [MESSAGE, MESSAGE, MAX_RESULT_BYTES + 4_096]) pauses.push(honest.take(bytes));
      pauses.push(honest.take(4_096));
      honest.end(`job-${job - 20}`);
      for (const thief of thieves) flood(thief);
      pass(1_000 / 300);
    }

    expect(pauses.filter((ms) => ms > 0)).toEqual([]);
  });

  it('let it send the pieces of the largest screenshot', () => {
    const { rates, pass } = createClock();
    floodAll([rates.open('stolen')], 5, pass);
    const honest = rates.open('honest');
    honest.give(screenshotJobId('A'.repeat(22)));
    const pieces = Array.from({ length: MAX_SCREENSHOT_BYTES / (32 * 1024) }, () => honest.take(36 * 1024));

    expect(pieces.filter((ms) => ms > 0)).toEqual([]);
  });

  it('take back what a job has brought when it ends, and give it once', () => {
    const { rates, pass } = createClock();
    floodAll([rates.open('stolen')], 5, pass);
    const [without, before] = [rates.open('a'), rates.open('b')];
    for (let time = 0; time < 100; time += 1) {
      before.give('same');
      before.give(`job-${time}`);
      before.end(`job-${time}`);
    }
    const [plain, more] = [flood(without), flood(before)];
    before.end('same');

    expect(more - plain).toBeLessThanOrEqual(256 * 1024 + MESSAGE);
    expect(more).toBeGreaterThan(plain);
    expect(flood(before)).toBe(0);
  });

  it('let results of jobs that are given again pay for what was sent before', () => {
    const { rates, pass } = createClock();
    floodAll([rates.open('stolen')], 5, pass);
    const back = rates.open('back');
    flood(back);
    const waits = back.take(10 * MESSAGE);
    for (let job = 0; job < 4; job += 1) back.give(`job-${job}`);

    expect([waits > 0, back.take(0), back.take(MESSAGE)]).toEqual([true, 0, 0]);
  });

  it('give a probe that connects again no further burst', () => {
    const { rates, pass } = createClock();
    floodAll([rates.open('stolen')], 5, pass);
    flood(rates.open('stolen'));

    expect(flood(rates.open('stolen'))).toBe(0);
    expect(flood(rates.open('other'))).toBeGreaterThan(0);
  });

  it('keep nothing of jobs that an agent never ends, beyond a bound', () => {
    const { rates, pass } = createClock();
    floodAll([rates.open('stolen')], 5, pass);
    const thief = rates.open('thief');
    for (let job = 0; job < 5_000; job += 1) thief.give(`job-${job}`);

    expect(flood(thief) / MIB).toBeLessThan(18);
  });

  it('forget probes whose rate is unused, however many there have been, and no debt', () => {
    const { rates, pass } = createClock();
    const debtor = rates.open('debtor');
    for (let index = 0; index < 10_000; index += 1) {
      if (index % 100 === 0) flood(debtor);
      rates.open(`gone-${index}`);
      pass(10);
    }
    flood(debtor);

    expect(rates.size()).toBeLessThanOrEqual(1_001);
    expect(rates.open('debtor').take(0)).toBeGreaterThan(0);
  });
});
