import { singleFamily, type Family, type ParamsOf } from '@vantage/contract';

import type { traceroute } from './contract.ts';
import { fewestFlows, mostPackets, queriesOf, wantsAllFlows } from './options/packet-counts.ts';

/** Options as the probe applies them. With rounds or all flows, `queries` is 1. */
export interface TraceOptions extends Omit<ParamsOf<typeof traceroute>['options'], 'flows' | 'family' | 'firstHop'> {
  readonly firstHop: number;
  readonly family: Family | undefined;
  readonly mostPackets: number;
  /** Flows of the trace; the search for all paths adds others. */
  readonly flows: number;
  readonly isOfAllFlows: boolean;
}

export function traceOptions(options: ParamsOf<typeof traceroute>['options']): TraceOptions {
  const isOfAllFlows = wantsAllFlows(options);
  const { firstHop = 1 } = options;
  const mostly = { ...options, firstHop, mostPackets: mostPackets(options) };
  const common = { ...mostly, family: singleFamily(options), isOfAllFlows };
  if (isOfAllFlows) return { ...common, flows: 1, queries: 1 };
  return { ...common, flows: fewestFlows(options), queries: queriesOf(options) };
}
