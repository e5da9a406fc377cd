import { found, type Found } from '../finding.ts';
import { groupBy, type Report, type ResultOf } from '../report.ts';
import { naming, shown, tally } from '../words.ts';

type InfoReport = Report<ResultOf<'info'>>;

export function findInfo(reports: readonly InfoReport[]): readonly Found[] {
  return [...unverified(reports), ...differing(reports)];
}

function unverified(reports: readonly InfoReport[]): readonly Found[] {
  const untrue = reports.filter(
    ({ result }) => result.hostnameVerified === false && typeof result.hostname === 'string',
  );
  return groupBy(untrue, ({ result }) => result.hostname ?? undefined).map(([name, own]) =>
    found(
      'reverse_name_unverified',
      'info',
      own,
      `The reverse name ${shown(name)} does not lead back to the address (seen by ${naming(own)}).`,
    ),
  );
}

function differing(reports: readonly InfoReport[]): readonly Found[] {
  const named = reports.filter(({ result }) => typeof result.hostname === 'string' && result.ip !== undefined);
  return groupBy(named, ({ result }) => result.ip).flatMap(([ip, own]) => {
    // Names are compared without case (RFC 4343).
    const nameOf = ({ result }: InfoReport): string => result.hostname!.toLowerCase();
    if (new Set(own.map(nameOf)).size < 2) return [];
    const seen = tally(own, (report) => shown(nameOf(report)));
    return [
      found(
        'reverse_name_differs',
        'info',
        own,
        `The address ${shown(ip)} has more than one reverse name; each probe shows one of them: ${seen}.`,
      ),
    ];
  });
}
