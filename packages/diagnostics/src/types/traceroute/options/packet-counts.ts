import { isOneOfBoth, wantsBothFamilies, type Family, type InputError } from '@vantage/contract';

/** Maximum number of packets that a probe sends for one check. */
export const MAX_PACKETS = 640;

/** Maximum number of packets that a probe sends for the trace over one address family. */
export function mostPackets(options: Pick<Counts, 'family'>): number {
  return wantsBothFamilies(options) || isOneOfBoth(options) ? MAX_PACKETS / 2 : MAX_PACKETS;
}

interface Counts {
  readonly firstHop?: number | undefined;
  readonly maxHops: number;
  readonly queries: number;
  readonly flows: number | 'all';
  readonly rounds?: number | undefined;
  readonly family?: Family | 'both' | undefined;
}

/**
 * Agents of earlier releases reject the word `all` for `flows`: jobs have a number there, and this option, which those
 * agents ignore.
 */
export const ALL_FLOWS = 'allFlows';

/** True if the paths of all flows are requested, in the form of a request or of a job. */
export function wantsAllFlows(options: Pick<Counts, 'flows'>): boolean {
  return options.flows === 'all' || (options as { readonly [ALL_FLOWS]?: unknown })[ALL_FLOWS] === true;
}

/**
 * Number of flows that are traced in any case; if all are requested, as many as an agent of an earlier release may
 * trace.
 */
export function fewestFlows({ maxHops, queries, flows }: Counts): number {
  return flows === 'all' ? Math.min(16, Math.floor(MAX_PACKETS / (maxHops * queries))) : flows;
}

/**
 * Maximum number of packets with limited TTLs that a trace sends. With rounds, those of the first round; for all flows,
 * those of a trace by an agent of an earlier release.
 */
export function plannedPackets(counts: Counts): number {
  return hopsOf(counts) * queriesOf(counts) * fewestFlows(counts);
}

/** Number of TTLs from the first hop to `maxHops`. */
export function hopsOf({ firstHop = 1, maxHops }: Pick<Counts, 'firstHop' | 'maxHops'>): number {
  return Math.max(1, maxHops - firstHop + 1);
}

/** Packets per hop and flow; with rounds, in the first one. */
export function queriesOf({ queries, rounds }: Pick<Counts, 'queries' | 'rounds'>): number {
  return rounds === undefined ? queries : 1;
}

/** Default of `queries`; a request that states it is treated as one without. */
export const DEFAULT_QUERIES = 3;

/** An error for `queries` if one packet per hop and flow is sent in any case, so that the number would be ignored. */
export function queriesErrors({ queries, flows, rounds }: Counts): InputError[] {
  const isIgnored = rounds !== undefined || flows === 'all';
  if (!isIgnored || queries === 1 || queries === DEFAULT_QUERIES) return [];
  const reason =
    rounds === undefined
      ? 'with flows "all": the search decides how often each hop is asked'
      : 'with rounds: each sends one packet to each hop';
  return [
    {
      path: '/options/queries',
      message: `must be 1, ${DEFAULT_QUERIES} (the default) or absent ${reason}`,
    },
  ];
}

export function packetErrors(counts: Counts): InputError[] {
  const isBoth = wantsBothFamilies(counts) && counts.flows !== 'all';
  const packets = plannedPackets(counts) * (isBoth ? 2 : 1);
  if (packets <= MAX_PACKETS) return [];
  const hops = counts.firstHop === undefined ? 'maxHops' : '(maxHops − firstHop + 1)';
  const product = `${hops} × queries × flows${isBoth ? ' × families' : ''}`;
  const message = `${product} is ${packets}; at most ${MAX_PACKETS} packets are sent.`;
  return [{ path: '/options', message }];
}
