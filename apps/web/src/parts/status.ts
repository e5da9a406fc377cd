import { saysNothing } from '@vantage/contract/says-nothing';

import type { Tone } from './tone.tsx';

/** Tone of a probe's status. */
export function statusTone(status: string): Tone {
  if (status === 'healthy') return 'good';
  return status === 'degraded' ? 'warn' : 'mute';
}

const outcomeTones: Readonly<Record<string, Tone>> = {
  success: 'good',
  failure: 'bad',
  timeout: 'warn',
  error: 'mute',
  pending: 'wait',
};

interface Rated {
  readonly result: string;
  readonly error?: { readonly code: string; readonly phase: string; readonly source: string } | null;
}

/**
 * Tone of a result; `mute` for a failure or timeout of the probe or of its resolver, which says nothing about the
 * target.
 */
export function toneOf({ result, error }: Rated): Tone {
  const isFailure = result === 'failure' || result === 'timeout';
  return isFailure && saysNothing(error) ? 'mute' : (outcomeTones[result] ?? 'mute');
}
