import { describe, expect, it } from '@jest/globals';

import { readAlarm, type AlarmRule } from '../definition.ts';
import type { MonitorState, ReducedEvent, TickOutcome } from './monitor-state.ts';
import { reduce } from './reduce.ts';

const rule = readAlarm({ when: '3 of 5', networks: 2, for: 2 })!;

/** Networks of the probes 0 to 4; all further ones are in AS9. */
const networks = ['AS1', 'AS1', 'AS2', 'AS3', 'AS4'];

/** @param letters `o` ok, `f` failing, `-` unmeasured, one for each probe */
function outcomeOf(tick: number, letters: string, places: readonly string[] = networks): TickOutcome {
  const states = { o: 'ok', f: 'failing', '-': 'unmeasured' } as const;
  const probes = letters.split('').map((letter, index) => {
    const state = states[letter as keyof typeof states];
    const result = { state, reason: null, rtt: null, loss: null, certificateDays: null, status: null };
    return [
      `probe-${index}`,
      { ...result, network: places[index] ?? 'AS9', country: index < 3 ? 'DE' : 'FR' },
    ] as const;
  });
  return { tick, atMs: tick * 60_000, headline: letters, probes: Object.fromEntries(probes) };
}

function run(
  ticks: readonly string[],
  { by = rule, places = networks }: { readonly by?: AlarmRule; readonly places?: readonly string[] } = {},
): { readonly state: MonitorState; readonly states: readonly string[]; readonly events: readonly ReducedEvent[] } {
  let state: MonitorState | undefined;
  const states: string[] = [];
  const events: ReducedEvent[] = [];
  for (const [index, letters] of ticks.entries()) {
    const step = reduce(state, outcomeOf(index + 1, letters, places), by);
    state = step.state;
    states.push(state.state);
    events.push(...step.events);
  }
  return { state: state!, states, events };
}

describe('the state of a monitor', () => {
  it.each([
    ['is ok at once', ['ooooo'], ['ok']],
    ['is bad when the rule holds for two ticks', ['ooooo', 'foffo', 'foffo'], ['ok', 'ok', 'bad']],
    ['is bad without a good tick before', ['fffff', 'fffff'], ['unknown', 'bad']],
    ['is not bad for one tick', ['ooooo', 'fffff', 'ooooo', 'fffff'], ['ok', 'ok', 'ok', 'ok']],
    ['is not bad if too few probes fail', ['ooooo', 'fofoo', 'fofoo'], ['ok', 'ok', 'ok']],
    ['counts whichever probes fail', ['ooooo', 'fffoo', 'oofff'], ['ok', 'ok', 'bad']],
    ['is ok again after two ticks', ['fffff', 'fffff', 'ooooo', 'ooooo'], ['unknown', 'bad', 'bad', 'ok']],
    ['is unknown when hardly a probe measures', ['ooooo', '----o', '----o'], ['ok', 'ok', 'unknown']],
    ['does not count probes that cannot measure', ['ooooo', '-f-fo', '-f-fo'], ['ok', 'ok', 'bad']],
    ['is not bad on the word of one probe', ['ooooo', '----f', '----f', '---of'], ['ok', 'ok', 'unknown', 'ok']],
  ])('%s', (_reason, ticks, expected) => {
    expect(run(ticks).states).toEqual(expected);
  });

  it.each([
    [
      'an outage with a tick at which nothing measures',
      ['ooooo', 'fffff', '-----', 'fffff'],
      ['ok', 'ok', 'ok', 'bad'],
    ],
    [
      'one with such a tick each second time',
      ['ooooo', '-----', 'fffff', '-----', 'fffff'],
      ['ok', 'ok', 'ok', 'ok', 'bad'],
    ],
    ['one from the start on', ['fffff', '-----', '-----', 'fffff'], ['unknown', 'unknown', 'unknown', 'bad']],
    ['a recovery', ['fffff', 'fffff', 'ooooo', '-----', 'ooooo'], ['unknown', 'bad', 'bad', 'bad', 'ok']],
    [
      'no outage: a good tick ends the count',
      ['ooooo', 'fffff', '-----', 'ooooo', 'fffff'],
      ['ok', 'ok', 'ok', 'ok', 'ok'],
    ],
    [
      'the way to unknown and back',
      ['ooooo', 'fffff', '-----', '-----', 'fffff'],
      ['ok', 'ok', 'ok', 'unknown', 'unknown'],
    ],
  ])('is decided by measured ticks: %s', (_reason, ticks, expected) => {
    expect(run(ticks).states).toEqual(expected);
  });

  it('keeps the alarm on while it is unknown, until it is ok for as many ticks as an alarm takes', () => {
    const outage = ['fffff', 'fffff', '-----', '-----', '-----'];
    const blind = run(outage);
    const back = run([...outage, 'ooooo']);

    expect(blind.state).toMatchObject({ state: 'unknown', alarmSinceMs: 120_000 });
    expect(run([...outage, 'fffff', 'fffff']).state).toMatchObject({ state: 'bad', alarmSinceMs: 120_000 });
    expect(back.state).toMatchObject({ state: 'unknown', alarmSinceMs: 120_000 });
    expect(run([...outage, 'ooooo', '-----', 'ooooo']).state).toMatchObject({ state: 'ok', alarmSinceMs: null });
    expect(run(['ooooo', '-----', '-----']).state).toMatchObject({ state: 'unknown', alarmSinceMs: null });
  });

  it('is unknown, not ok, if all that measure fail and are too few networks to agree', () => {
    const alone = run(['ooooo', 'fffoo', 'fffoo', 'ff---', 'ff---']);

    // With one failing network, probes that work elsewhere refute the alarm; unmeasured ones cannot.
    expect(alone.states).toEqual(['ok', 'ok', 'bad', 'bad', 'unknown']);
    expect(run(['ooooo', 'ffo--', 'ffo--']).states.at(-1)).toBe('ok');
    expect(run(['ooooo', 'oo---', 'oo---']).states.at(-1)).toBe('ok');
  });

  it('can be bad by probes whose places are not known', () => {
    let state: MonitorState | undefined;
    for (const tick of [1, 2]) {
      const outcome = outcomeOf(tick, 'fff');
      const probes = Object.entries(outcome.probes).map(([probe, result]) => [
        probe,
        { ...result, network: null, country: null },
      ]);
      const unknown = { ...outcome, probes: Object.fromEntries(probes) as TickOutcome['probes'] };
      state = reduce(state, unknown, readAlarm({})!).state;
    }

    expect(state).toMatchObject({ state: 'bad', agreement: { networks: 1, countries: 1 } });
  });

  it('wants failures in as many networks as the rule says', () => {
    const oneNetwork = ['AS1', 'AS1', 'AS1', 'AS2', 'AS3'];

    expect(run(['ooooo', 'fffoo', 'fffoo'], { places: oneNetwork }).states.at(-1)).toBe('ok');
    expect(run(['ooooo', 'ffofo', 'ffofo'], { places: oneNetwork }).states.at(-1)).toBe('bad');
  });

  it('wants failures in as many countries as the rule says', () => {
    const by = readAlarm({ when: '3 of 5', countries: 2, for: 1 })!;

    expect(run(['ooooo', 'fffoo'], { by }).states.at(-1)).toBe('ok');
    expect(run(['ooooo', 'ffofo'], { by }).states.at(-1)).toBe('bad');
  });

  it('takes the share of the probes that there are', () => {
    const by = readAlarm({ when: '3 of 5', for: 1 })!;

    expect(run(['oooooooooo', 'fffffooooo'], { by }).state).toMatchObject({ state: 'ok', agreement: { needed: 6 } });
    expect(run(['oooooooooo', 'ffffffoooo'], { by }).state.state).toBe('bad');
  });

  it('can be that of a single probe', () => {
    expect(run(['o', 'f'], { by: readAlarm({ for: 1 })! }).states).toEqual(['ok', 'bad']);
  });

  it('has the time since when, for each probe and for all', () => {
    const { state, events } = run(['ooooo', 'fffoo', 'fffoo', 'fffoo']);

    expect(state).toMatchObject({ state: 'bad', sinceMs: 180_000, agreement: { failing: 3, counted: 5, networks: 2 } });
    expect(state.probes).toMatchObject({ 'probe-0': { sinceMs: 120_000 }, 'probe-4': { sinceMs: 60_000 } });
    expect(events.map(({ kind, tick }) => `${kind} ${tick}`)).toEqual(
      ['probe 2', 'probe 2', 'probe 2', 'state 1', 'state 3'].toSorted(
        (a, b) => Number(a.split(' ')[1]) - Number(b.split(' ')[1]),
      ),
    );
  });

  it('survives its way through JSON', () => {
    const { state } = run(['ooooo', 'fffoo']);
    const kept = JSON.parse(JSON.stringify(state)) as MonitorState;

    expect(reduce(kept, outcomeOf(3, 'fffoo'), rule)).toEqual(reduce(state, outcomeOf(3, 'fffoo'), rule));
  });
});

describe('a flapping probe', () => {
  const flaps = Array.from({ length: 20 }, (_, tick) => (tick % 2 === 0 ? 'foooo' : 'ooooo'));

  it('is not counted until it is steady again', () => {
    const { state } = run(flaps);
    const steady = run([...flaps, ...Array.from({ length: 60 }, () => 'ooooo')]);

    expect(state).toMatchObject({ agreement: { counted: 4 }, probes: { 'probe-0': { flapping: true } } });
    expect(steady.state).toMatchObject({ agreement: { counted: 5 }, probes: { 'probe-0': { flapping: false } } });
  });

  it('does not hide an outage at the others', () => {
    expect(run([...flaps, 'offfo', 'offfo']).states.at(-1)).toBe('bad');
  });

  it('is evidence if all flap: the target does, and an outage of it is found', () => {
    const all = flaps.map((_, tick) => (tick % 2 === 0 ? 'fffff' : 'ooooo'));
    const { state, states } = run([...all, 'fffff', 'fffff']);

    expect(new Set(states.slice(1, -2))).toEqual(new Set(['ok']));
    expect(Object.values(state.probes).every(({ flapping }) => flapping)).toBe(true);
    expect(state).toMatchObject({ state: 'bad', agreement: { failing: 5, counted: 5 } });
  });

  it('is remembered while it is not selected', () => {
    const away = run([...flaps, 'ooooo'], {});
    const { 'probe-0': _gone, ...others } = outcomeOf(22, 'ooooo').probes;
    const without = reduce(away.state, { ...outcomeOf(22, 'ooooo'), probes: others }, rule).state;

    expect(reduce(without, outcomeOf(23, 'foooo'), rule).state.probes['probe-0']).toMatchObject({ flapping: true });
  });
});
