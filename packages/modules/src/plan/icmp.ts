import type { RawIcmp } from '../file/shape.ts';
import { requiredFamily, refuseSourceAddress } from './common.ts';
import type { IcmpModule } from './module.ts';
import type { Refusals } from './refusals.ts';

/** Bytes of blackbox_exporter's default payload, “Prometheus Blackbox Exporter”. */
const DEFAULT_PAYLOAD_BYTES = 28;
const MAX_PAYLOAD_BYTES = 1_472;
const DEFAULT_TTL = 64;

export function planIcmp(
  raw: RawIcmp | undefined,
  refusals: Refusals,
): Pick<IcmpModule, 'prober' | 'family' | 'payloadBytes' | 'ttl'> {
  const { payload_size: payloadBytes = 0, ttl = DEFAULT_TTL } = raw ?? {};
  refuseSourceAddress(raw, 'icmp', refusals);
  if (payloadBytes < 0 || payloadBytes > MAX_PAYLOAD_BYTES) {
    const reason = `must be from 0 to ${MAX_PAYLOAD_BYTES}: packets are never fragmented`;
    refusals.refuse(raw!, 'icmp', 'payload_size', reason);
  }
  return {
    prober: 'icmp',
    family: requiredFamily(raw, 'icmp', refusals),
    payloadBytes: payloadBytes === 0 ? DEFAULT_PAYLOAD_BYTES : payloadBytes,
    ttl: ttl === 0 ? undefined : ttl,
  };
}
