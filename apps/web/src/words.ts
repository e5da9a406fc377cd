import type { Summary } from '@vantage/contract';

const outcomeWords: Readonly<Record<string, string>> = {
  success: 'Success',
  failure: 'Failure',
  timeout: 'Timeout',
  error: 'Not measured',
  pending: 'Measuring',
};

/** Display name of an outcome. */
export function wordOf(result: string): string {
  return outcomeWords[result] ?? result;
}

/** Words for `up` and `down` by check type. */
const proven: Readonly<Record<string, readonly [up: string, down: string]>> = {
  dns: ['the name exists', 'the name does not resolve'],
  info: ['the host can be looked up', 'the host cannot be looked up'],
  tcp: ['the port is open', 'the port is not open'],
  udp: ['the port is open', 'the port is not open'],
  traceroute: ['the target is reached', 'the target is not reached'],
};
const provenOfOthers = ['it answers', 'it fails'] as const;

/**
 * `3 of 4 probes agree that the port is open`: says on what most probes agree, because other parts of their answers may
 * differ. Undefined if fewer than two probes count, and if as many are up as down.
 */
export function agreementOf({ type, agree, counts }: Pick<Summary, 'type' | 'agree' | 'counts'>): string | undefined {
  if (agree.of < 2 || counts.up === counts.down) return undefined;
  const [up, down] = proven[type] ?? provenOfOthers;
  return `${agree.n} of ${agree.of} probes agree that ${counts.up > counts.down ? up : down}`;
}

/** The locations without a probe in words; undefined if each has one. */
export function emptyLocationsText(of: { readonly emptyLocations?: readonly string[] }): string | undefined {
  const { emptyLocations = [] } = of;
  if (emptyLocations.length === 0) return undefined;
  return `No probe at ${emptyLocations.map((text) => `“${text}”`).join(' or ')}`;
}
