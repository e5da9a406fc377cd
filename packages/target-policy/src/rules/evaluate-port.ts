import type { TargetPurpose } from '@vantage/contract';

import { refusal, type Refusal } from './refusal.ts';
import { specialData } from '../addresses/special-data.ts';

const { http, tcp, udp, dns } = specialData.ports;
const refused: Readonly<Record<'http' | 'tcp' | 'udp', ReadonlySet<number>>> = {
  http: new Set([...http.refuse, ...http.alsoRefuse]),
  tcp: new Set(tcp.refuse),
  udp: new Set(udp.refuse),
};

/** The port, or the default port of the purpose; undefined if there is neither. */
export function effectivePort(purpose: TargetPurpose, port: number | undefined): number | undefined {
  return port ?? (purpose === 'dns' ? dns.serverPorts[0] : undefined);
}

/** Why the policy refuses a port for a purpose, or undefined. `tcp`, `udp` and `http` need one. */
export function evaluatePort(purpose: TargetPurpose, port: number | undefined): Refusal | undefined {
  const used = effectivePort(purpose, port);
  if (used === undefined) {
    return purpose === 'icmp' || purpose === 'info'
      ? undefined
      : refusal('port_refused', `A ${purpose} target needs a port.`);
  }
  if (!Number.isInteger(used) || used < 1 || used > 65_535) {
    return refusal('port_refused', 'A port is a number from 1 to 65535.');
  }
  if (purpose === 'icmp' || purpose === 'info') return undefined;
  if (purpose === 'dns') {
    if (dns.serverPorts.includes(used)) return undefined;
    return refusal('port_refused', `A DNS server is asked on port ${dns.serverPorts.join(', ')} only, not ${used}.`);
  }
  if (!refused[purpose].has(used)) return undefined;
  return refusal('port_refused', `Port ${used} is not open to ${purpose} checks: it invites abuse.`);
}
