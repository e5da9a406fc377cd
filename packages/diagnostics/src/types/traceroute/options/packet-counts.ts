import { isOneOfBoth, wantsBothFamilies, type Family, type InputError } from '@vantage/contract';

/** Packets that one check may send. */
export const MAX_PACKETS = 640;

/** Packets that the trace over one family may send. */
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

/** Agents of earlier releases reject a word for `flows`: jobs carry a number for them, and this option, which they ignore. */
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

/** Packets of the trace, the first round, without those that silence causes. */
export function plannedPackets(counts: Counts): number {
  return hopsOf(counts) * queriesOf(counts) * fewestFlows(counts);
}

/** Hops that are asked. */
export function hopsOf({ firstHop = 1, maxHops }: Pick<Counts, 'firstHop' | 'maxHops'>): number {
  return Math.max(1, maxHops - firstHop + 1);
}

/** Packets that the trace sends to each hop. */
export function queriesOf({ queries, rounds }: Pick<Counts, 'queries' | 'rounds'>): number {
  return rounds === undefined ? queries : 1;
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
