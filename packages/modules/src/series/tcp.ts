import { addressSeries } from './address.ts';
import { gauge, type Sample } from './families.ts';
import { reading, type Reading, type ResultOf } from './result.ts';

type Tcp = ResultOf<'tcp'>;

export function tcpReading(result: Tcp): Reading {
  return reading([result.state !== 'open' && (result.error?.message ?? 'There was no connection in time.')]);
}

export function tcpSeries(result: Tcp, resolveMs: number | undefined): readonly Sample[] {
  return [...addressSeries(result.resolvedIp, resolveMs), gauge('probe_failed_due_to_regex', 0)];
}
