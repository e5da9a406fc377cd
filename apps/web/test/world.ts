import type { Check } from '@vantage/contract';

import { dnsCheck } from './world/dns-check.ts';
import { httpCheck } from './world/http-check.ts';
import { infoCheck } from './world/info-check.ts';
import { pingCheck } from './world/ping-check.ts';
import { tcpCheck, udpCheck } from './world/port-checks.ts';
import { tracerouteCheck } from './world/traceroute-check.ts';

export { world } from './world/probes.ts';
export { httpCheck, pingCheck, tcpCheck, tracerouteCheck };

/** One check of each type, from all probes. */
export const worldChecks: readonly Check[] = [
  pingCheck,
  httpCheck,
  dnsCheck,
  tcpCheck,
  udpCheck,
  infoCheck,
  tracerouteCheck,
];
