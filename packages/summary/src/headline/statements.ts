import type { Check } from '@vantage/contract';

import { measuredHost, overFamily } from '../measured-host.ts';
import { payloadText } from '../payload-text.ts';
import { ofType, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { isWithoutFamily } from '../resolution.ts';
import { portOf, recordTypeOf } from './request.ts';
import { confirmingResults } from './confirming.ts';
import { resolved } from './dns.ts';
import { redirectionOf, statusOf } from './http.ts';
import { lookedUpText } from './info.ts';
import { reachedText, unreachedText } from './traceroute.ts';

/** Clause about the probes for which the target is up. */
export function positive(check: Check, probeResults: readonly ProbeResult[], up: readonly ProbeResult[]): string {
  const host = measuredHost(check, probeResults);
  switch (check.type) {
    case 'ping':
      return `${host} answers pings`;
    case 'http':
      return `${host} ${redirectionOf(up)}${statusOf(up)}`;
    case 'tcp':
    case 'udp':
      return `Port ${portOf(probeResults)} of ${host} ${probeResults.some(failsDialogue) ? 'answers as expected' : 'is open'}`;
    case 'dns':
      return resolved(host, recordTypeOf(probeResults), ofType<'dns'>(confirmingResults(check, up)));
    case 'traceroute':
      return reachedText(host, ofType<'traceroute'>(up));
    case 'info':
      return `${host} is ${lookedUpText(check.host, up)}, as seen`;
    default:
      return `${host} answers`;
  }
}

/** Clause about the probes for which the target is down, with the address family if the other one may work. */
export function negative(check: Check, probeResults: readonly ProbeResult[], down: readonly ProbeResult[]): string {
  return `${fails(check, probeResults, down)}${overFamily(check.type, down)}`;
}

function fails(check: Check, probeResults: readonly ProbeResult[], down: readonly ProbeResult[]): string {
  const host = measuredHost(check, probeResults);
  if (isNameless(check, down)) {
    const [family] = down.map(({ result }) => result.error?.family);
    return down.every(isWithoutFamily)
      ? `${host} cannot be reached over IPv${family}`
      : `The name of ${host} does not resolve`;
  }
  switch (check.type) {
    case 'ping':
      return `${host} does not answer pings${payloadText(down)}`;
    case 'http':
      return `${host} does not work`;
    case 'tcp':
    case 'udp':
      return `Port ${portOf(probeResults)} of ${host} ${portText(down)}`;
    case 'dns':
      return `${host} does not resolve (${recordTypeOf(probeResults)})`;
    case 'traceroute':
      return unreachedText(host, ofType<'traceroute'>(down));
    case 'info':
      return `${host} cannot be looked up`;
    default:
      return `${host} does not answer`;
  }
}

function portText(down: readonly ProbeResult[]): string {
  if (down.every(isOpen)) return 'is open, and does not answer as expected';
  return down.some(failsDialogue) ? 'does not answer as expected' : 'is not open';
}

/** True for an open port that is asked for more: the dialogue of a module failed. */
function failsDialogue(probeResult: ProbeResult): boolean {
  return isOpen(probeResult) && (probeResult.outcome === 'failure' || probeResult.outcome === 'timeout');
}

/** True for an open port, even if the dialogue of a module failed after the connection. */
function isOpen({ result }: ProbeResult): boolean {
  return (result as SparseResultOf<'tcp'>).state === 'open';
}

/** True if all these probes could not resolve the host itself, rather than one to which it redirects. Never for dns. */
export function isNameless({ type }: Check, down: readonly ProbeResult[]): boolean {
  if (type === 'dns') return false;
  return ofType<'http'>(down).every(
    ({ result: { error, redirects = [] } }) => error?.phase === 'resolve' && redirects.length === 0,
  );
}
