import type { ParamsOf } from '@vantage/contract';

import type { dns } from '../../../packages/diagnostics/src/types/dns/contract.ts';
import { runDns } from '../../../packages/diagnostics/src/types/dns/run.ts';
import type { Outcome } from '../../../packages/diagnostics/src/diagnostic.ts';
import { onLoopback } from './context.ts';

type Options = ParamsOf<typeof dns>['options'];

/** One dns check with a name server on loopback as the resolver of the probe. */
export function askDns(
  port: number,
  host: string,
  recordType: string,
  options: Partial<Options> = {},
): Promise<Outcome<typeof dns>> {
  const params: ParamsOf<typeof dns> = {
    host,
    recordType,
    options: { ...defaults, ...options },
  };
  return runDns(params, onLoopback([`127.0.0.1:${port}`]));
}

const defaults: Options = {
  transport: 'udp',
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
  nsid: false,
  trace: false,
};
