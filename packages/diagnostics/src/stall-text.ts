import { count, ms } from './shared/result-text.ts';

interface Stalled {
  readonly stalled?: number | undefined;
  readonly roundsLeftOut?: number | undefined;
  readonly packetsLeftOut?: number | undefined;
}

/**
 * States a stall and what was left out because of it, such as `the probe stood still for 4.00 s (3 rounds left out)`;
 * without a stall, the rounds or packets that the probe did not send; undefined if there is neither.
 */
export function stallText({ stalled, roundsLeftOut = 0, packetsLeftOut = 0 }: Stalled): string | undefined {
  const rounds = roundsLeftOut === 0 ? [] : [count(roundsLeftOut, 'round')];
  const packets = packetsLeftOut === 0 ? [] : [count(packetsLeftOut, 'packet')];
  const items = [...rounds, ...packets].join('');
  if (stalled === undefined) return items === '' ? undefined : `${items} left out, which the probe did not send`;
  const leftOut = items === '' ? '' : ` (${items} left out)`;
  return `the probe stood still for ${ms(stalled)}${leftOut}`;
}
