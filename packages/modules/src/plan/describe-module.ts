import { stringify } from 'yaml';

import type { Module } from './module.ts';

/** Headers whose values are not for show. */
const SECRET = /auth|cookie|token|secret|key/i;

/** The module as it is run, as YAML without credentials. */
export function describeModule(module: Module): string {
  const { line: _, ...shown } = module;
  if (shown.prober === 'tcp' && shown.dialogue !== undefined) {
    // A line to send may be a password, whatever it looks like.
    const steps = shown.dialogue.steps.map((step) => (step.send === undefined ? step : { ...step, send: '<secret>' }));
    return stringify({ ...shown, dialogue: { ...shown.dialogue, steps } });
  }
  if (shown.prober !== 'http') return stringify(shown);
  const headers = Object.entries(shown.headers).map(([name, value]) => [name, SECRET.test(name) ? '<secret>' : value]);
  return stringify({ ...shown, headers: Object.fromEntries(headers) as Record<string, string> });
}
