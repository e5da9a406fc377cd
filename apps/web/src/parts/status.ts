import type { Tone } from './tone.tsx';

/** Tone of a probe's status. */
export function statusTone(status: string): Tone {
  if (status === 'healthy') return 'good';
  return status === 'degraded' ? 'warn' : 'mute';
}
