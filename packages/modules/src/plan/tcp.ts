import type { RawTcp } from '../file/shape.ts';
import { familyOf, refuseSourceAddress } from './common.ts';
import type { TcpModule } from './module.ts';
import { refuseSet, type Refusals } from './refusals.ts';

export function planTcp(raw: RawTcp | undefined, refusals: Refusals): Pick<TcpModule, 'prober' | 'family'> {
  refuseSourceAddress(raw, 'tcp', refusals);
  refuseSet(refusals, raw, 'tcp', {
    query_response: 'probes send no data over TCP',
    tls: 'probes do not negotiate TLS in a tcp check: use prober http, or dns with dns_over_tls',
  });
  return { prober: 'tcp', family: familyOf(raw, 'tcp', refusals) };
}
