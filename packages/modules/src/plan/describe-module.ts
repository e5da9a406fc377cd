import type { OAuth2Grant, TlsRules } from '@vantage/diagnostics/contract';
import { stringify } from 'yaml';

import type { Module } from './module.ts';

/** Headers whose values are hidden. */
const SECRET = /auth|cookie|token|secret|key/i;

function withoutKey({ identity, ...tls }: TlsRules): TlsRules {
  return identity === undefined ? tls : { ...tls, identity: { ...identity, key: '<secret>' } };
}

/** Describes an OAuth2 grant without the secret and the parameters, which may contain secrets. */
function grantOf(grant: OAuth2Grant | undefined): object {
  if (grant === undefined) return {};
  const parameters = Object.fromEntries(Object.keys(grant.parameters).map((name) => [name, '<secret>']));
  return { oauth2: { ...grant, clientSecret: '<secret>', parameters, tls: withoutKey(grant.tls) } };
}

/** The module in effect as YAML, without credentials. */
export function describeModule(module: Module): string {
  const { line: _, ...all } = module;
  const shown = 'tlsOptions' in all ? { ...all, tlsOptions: withoutKey(all.tlsOptions) } : all;
  if (shown.prober === 'tcp' && shown.dialogue !== undefined) {
    // Any line to send may be a password.
    const steps = shown.dialogue.steps.map((step) => (step.send === undefined ? step : { ...step, send: '<secret>' }));
    return stringify({ ...shown, dialogue: { ...shown.dialogue, steps } });
  }
  if (shown.prober !== 'http') return stringify(shown);
  const headers = Object.entries(shown.headers).map(([name, value]) => [name, SECRET.test(name) ? '<secret>' : value]);
  const body = shown.body === undefined ? undefined : '<secret>';
  return stringify({
    ...shown,
    body,
    ...grantOf(shown.oauth2),
    headers: Object.fromEntries(headers) as Record<string, string>,
  });
}
