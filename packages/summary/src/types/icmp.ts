import type { IcmpNotice } from '@vantage/diagnostics/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { isUndeliveredAt, UNDELIVERED_SENDERS } from '../undelivered.ts';
import { naming, safeText } from '../words.ts';

type IcmpResult = ProbeResult<SparseResultOf<'ping'> | SparseResultOf<'tcp'> | SparseResultOf<'udp'>>;

/** One finding per ICMP error and sender. */
export function findIcmp(probeResults: readonly IcmpResult[]): readonly FindingDraft[] {
  const received = probeResults.flatMap((probeResult) =>
    icmpOf(probeResult.result).map((icmp) => ({ ...probeResult, icmp })),
  );
  const groups = groupBy(received, ({ icmp, result }) => {
    const address = result.resolvedIp ?? '';
    return `${messageName(icmp, address)} ${senderOf(icmp, address)}`;
  });
  return groups.map(([what, rows]) => {
    const own = probeResults.filter(({ probe }) => rows.some((row) => row.probe === probe));
    return buildFinding('icmp_refused', 'info', own, `${naming(own)} got ${what}.`);
  });
}

function icmpOf(result: IcmpResult['result']): readonly IcmpNotice[] {
  if ('packets' in result) return (result.packets ?? []).flatMap(({ icmp }) => icmp ?? []);
  return 'icmp' in result ? [result.icmp ?? []].flat() : [];
}

function senderOf(icmp: IcmpNotice, target: string): string {
  if (icmp.own === true) return 'from the probe itself';
  if (icmp.private === true) return 'from a private address';
  if (icmp.from === null) return 'from a sender that the probe could not see';
  if (icmp.from !== target) return `from ${safeText(icmp.from)}, which is not the measured address`;
  return isUndeliveredAt(target, icmp)
    ? `from the target’s own address (${safeText(icmp.from)}), as from ${UNDELIVERED_SENDERS}`
    : `from the target itself (${safeText(icmp.from)})`;
}

/**
 * Names of ICMP messages by family, type and code (RFC 792 and RFC 1812 section 5.2.7.1; RFC 4443 sections 3.1 to 3.3).
 */
const names: Readonly<Record<string, string>> = {
  '4:3/0': 'network unreachable',
  '4:3/1': 'host unreachable',
  '4:3/2': 'protocol unreachable',
  '4:3/3': 'port unreachable',
  '4:3/4': 'fragmentation needed',
  '4:3/9': 'administratively prohibited',
  '4:3/10': 'administratively prohibited',
  '4:3/13': 'administratively prohibited',
  '4:11/0': 'time exceeded',
  '6:1/0': 'no route',
  '6:1/1': 'administratively prohibited',
  '6:1/3': 'address unreachable',
  '6:1/4': 'port unreachable',
  '6:2/0': 'packet too big',
  '6:3/0': 'hop limit exceeded',
};

function messageName({ type, code }: IcmpNotice, target: string): string {
  const name = names[`${target.includes(':') ? 6 : 4}:${type}/${code}`];
  return name === undefined ? `ICMP type ${type} code ${code}` : `“${name}” (ICMP ${type}/${code})`;
}
