import { count, ms } from './shared/result-text.ts';

interface Stalled {
  readonly stalled?: number | undefined;
  readonly roundsLeftOut?: number | undefined;
  readonly packetsLeftOut?: number | undefined;
}

/** `the probe stood still for 4.00 s (3 rounds left out)`; undefined if it did not. */
export function stallText({ stalled, roundsLeftOut = 0, packetsLeftOut = 0 }: Stalled): string | undefined {
  if (stalled === undefined) return undefined;
  const rounds = roundsLeftOut === 0 ? [] : [count(roundsLeftOut, 'round')];
  const packets = packetsLeftOut === 0 ? [] : [count(packetsLeftOut, 'packet')];
  const leftOut = [...rounds, ...packets].map((items) => ` (${items} left out)`).join('');
  return `the probe stood still for ${ms(stalled)}${leftOut}`;
}
