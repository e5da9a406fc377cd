import type { SummaryGroup } from '@vantage/contract';

import { found, type Found } from './finding.ts';
import { groupsOf } from './groups.ts';
import type { Report, ResultOf } from './report.ts';
import { familyOf } from './scopes.ts';
import { naming, shown, tally, unique } from './words.ts';

/** Addresses of the target that the probe resolved, if the result contains them. */
function addressesOf(report: Report): readonly string[] | undefined {
  const { addresses = [] } = report.result as ResultOf<'info'>;
  if (addresses.length > 0) return unique(addresses);
  const { resolvedIp } = report.result;
  return resolvedIp === null || resolvedIp === undefined ? undefined : [resolvedIp];
}

export function groupAddresses(reports: readonly Report[]): readonly SummaryGroup[] {
  return groupsOf('addresses', reports, addressesOf);
}

export function findAddresses(reports: readonly Report[]): readonly Found[] {
  return [...differing(reports), ...families(reports)];
}

function differing(reports: readonly Report[]): readonly Found[] {
  // Compared per family: probes that use different families are a separate finding.
  const families = ['IPv4', 'IPv6'].map((family) => reports.filter((report) => familyOf(report) === family));
  return families.flatMap((own) => {
    const groups = groupAddresses(own);
    if (groups.length < 2) return [];
    const seen = tally(own, (report) => shown(addressesOf(report)?.join(', ') ?? '', 160));
    const text = `The host has different addresses for different probes: ${seen}.${byPlace(own, groups)}`;
    return [found('addresses_differ', 'info', own, text)];
  });
}

/**
 * Whether each country sees only one of the groups, as with location-dependent DNS. Requires a country with two probes.
 */
function byPlace(reports: readonly Report[], groups: readonly SummaryGroup[]): string {
  const seenBy = new Map<string, Set<number>>();
  for (const { probe, facts } of reports) {
    if (facts === undefined) return '';
    const index = groups.findIndex(({ probes }) => probes.includes(probe));
    seenBy.set(facts.countryCode, (seenBy.get(facts.countryCode) ?? new Set()).add(index));
  }
  if (seenBy.size === reports.length || [...seenBy.values()].some(({ size }) => size > 1)) return '';
  return ' Probes of one country see the same, so the answer goes by place, as that of a content network does.';
}

function families(reports: readonly Report[]): readonly Found[] {
  const six = reports.filter((report) => familyOf(report) === 'IPv6');
  const four = reports.filter((report) => familyOf(report) === 'IPv4');
  if (six.length === 0 || four.length === 0) return [];
  const text = `${naming(four)} used IPv4, ${naming(six)} IPv6: what differs between them may be a matter of the family.`;
  return [found('families_differ', 'info', [...four, ...six].toSorted(byProbe), text)];
}

function byProbe(a: Report, b: Report): number {
  return a.probe < b.probe ? -1 : 1;
}
