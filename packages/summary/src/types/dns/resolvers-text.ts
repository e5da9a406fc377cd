import type { ProbeResult } from '../../probe-result.ts';
import { naming } from '../../words.ts';

/** `The resolver of fra-1`, `The resolvers of 2 probes (ber-1 and fra-1)`. */
export function resolversOf(probeResults: readonly ProbeResult[]): string {
  return `The ${probeResults.length === 1 ? 'resolver' : 'resolvers'} of ${naming(probeResults)}`;
}

/** `The resolver of fra-1 says`, `The resolvers of 2 probes (ber-1 and fra-1) say`. */
export function resolversSay(probeResults: readonly ProbeResult[]): string {
  return `${resolversOf(probeResults)} ${probeResults.length === 1 ? 'says' : 'say'}`;
}
