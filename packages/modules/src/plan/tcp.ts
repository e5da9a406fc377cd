import { MAX_EXPRESSION_LENGTH } from '@vantage/contract';
import { MAX_DIALOGUE_STEPS, MAX_SEND_LENGTH } from '@vantage/diagnostics/contract';

import type { RawTcp } from '../file/shape.ts';
import { requiredFamily, refuseSourceAddress } from './common.ts';
import type { TcpModule } from './module.ts';
import type { Refusals } from './refusals.ts';
import { planTls } from './tls.ts';

type Planned = Pick<TcpModule, 'prober' | 'family' | 'dialogue' | 'tlsOptions'>;

export function planTcp(raw: RawTcp | undefined, refusals: Refusals): Planned {
  refuseSourceAddress(raw, 'tcp', refusals);
  const { tls = false, query_response: entries = [] } = raw ?? {};
  const handshakes = entries.filter(({ starttls = false }) => starttls).length + (tls ? 1 : 0);
  if (handshakes > 1) refusals.refuse(raw!, 'tcp', 'query_response', 'begins TLS where there is TLS');
  if (entries.length > MAX_DIALOGUE_STEPS) {
    refusals.refuse(raw!, 'tcp', 'query_response', `has more than ${MAX_DIALOGUE_STEPS} entries`);
  }
  const steps = entries.map((entry) => {
    const { expect, send, starttls: startTls = false } = entry;
    if ((expect ?? '').length > MAX_EXPRESSION_LENGTH) {
      refusals.refuse(entry, 'tcp.query_response', 'expect', `has more than ${MAX_EXPRESSION_LENGTH} characters`);
    }
    if ((send ?? '').length > MAX_SEND_LENGTH) {
      refusals.refuse(entry, 'tcp.query_response', 'send', `has more than ${MAX_SEND_LENGTH} characters`);
    }
    return { ...(expect === undefined ? {} : { expect }), ...(send === undefined ? {} : { send }), startTls };
  });
  return {
    prober: 'tcp',
    family: requiredFamily(raw, 'tcp', refusals),
    dialogue: tls || steps.length > 0 ? { tls, steps } : undefined,
    tlsOptions: planTls(raw?.tls_config, 'tcp.tls_config', refusals),
  };
}
