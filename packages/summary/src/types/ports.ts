import type { SummaryGroup } from '@vantage/contract';

import { found, type Found } from '../finding.ts';
import { groupsOf } from '../groups.ts';
import type { Report, ResultOf } from '../report.ts';
import { thresholds } from '../thresholds.ts';
import { listed, naming, tally } from '../words.ts';
import { findIcmp } from './icmp.ts';

type TcpReport = Report<ResultOf<'tcp'>>;
type UdpReport = Report<ResultOf<'udp'>>;
type PortReport = TcpReport | UdpReport;

export function groupStates(reports: readonly PortReport[]): readonly SummaryGroup[] {
  return groupsOf<PortReport>('state', reports, ({ result }) =>
    result.state === undefined ? undefined : [result.state],
  );
}

export function findTcp(reports: readonly TcpReport[]): readonly Found[] {
  return [...states(reports), ...handshakes(reports), ...findIcmp(reports)];
}

export function findUdp(reports: readonly UdpReport[]): readonly Found[] {
  return [...states(reports), ...silence(reports), ...findIcmp(reports)];
}

function states(reports: readonly PortReport[]): readonly Found[] {
  const told = reports.filter(({ result }) => result.state !== undefined);
  const of = (...words: readonly string[]): readonly PortReport[] =>
    told.filter(({ result }) => words.includes(result.state!));
  const [closed, filtered] = [of('closed'), of('filtered')];
  const all: Found[] = [];
  if (closed.length > 0) {
    const text = `The port is closed for ${naming(closed)}: the host, or a firewall in its name, answers that nothing listens there.`;
    all.push(found('port_closed', 'warning', closed, text));
  }
  if (filtered.length > 0) {
    const text = `The port is filtered for ${naming(filtered)}: packets to it are dropped or refused on the way, or the host is away.`;
    all.push(found('port_filtered', 'warning', filtered, text));
  }
  const seen = new Set(told.map(({ result }) => result.state));
  // A silent port may be open.
  if (seen.has('open')) seen.delete('open|filtered');
  if (seen.size > 1) {
    const text = `The port is not in the same state for all probes: ${tally(told, ({ result }) => result.state)}.`;
    all.push(found('port_states_differ', 'warning', told, text));
  }
  return all;
}

function handshakes(reports: readonly TcpReport[]): readonly Found[] {
  const lossy = reports.flatMap((report) => {
    const attempts = report.result.attempts ?? [];
    const failed = attempts.filter(({ error }) => error !== null).length;
    return report.result.state === 'open' && failed > 0 ? [{ report, failed, of: attempts.length }] : [];
  });
  if (lossy.length === 0) return [];
  const lost = lossy.reduce((sum, { failed }) => sum + failed, 0);
  const values = listed(lossy.map(({ report, failed, of }) => `${report.probe} ${failed} of ${of}`));
  const severity = lost >= thresholds.lostPackets ? 'warning' : 'info';
  const text = `Some handshakes failed where others worked: ${values}.`;
  return [
    found(
      'handshakes_lost',
      severity,
      lossy.map(({ report }) => report),
      text,
      'some handshakes fail',
    ),
  ];
}

function silence(reports: readonly UdpReport[]): readonly Found[] {
  const silent = reports.filter(({ result }) => result.state === 'open|filtered');
  if (silent.length === 0) return [];
  const text =
    `Nothing came back to ${naming(silent)}: the port is filtered, or what listens there does not answer this question. ` +
    `With UDP the two look the same.${blindness(silent)}`;
  return [found('udp_no_answer', 'info', silent, text)];
}

/** A probe that cannot receive ICMP errors sees a rejection as silence. */
function blindness(silent: readonly UdpReport[]): string {
  const blind = silent.filter(({ result }) => result.icmpUnread === true);
  return blind.length === 0
    ? ''
    : ` ${naming(blind)} cannot read ICMP errors, so that a refusal looks like silence too.`;
}
