import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { naming, safeText, tally } from '../words.ts';

type InfoResult = ProbeResult<SparseResultOf<'info'>>;

export function findInfo(probeResults: readonly InfoResult[]): readonly FindingDraft[] {
  return [...unverified(probeResults), ...differing(probeResults)];
}

function unverified(probeResults: readonly InfoResult[]): readonly FindingDraft[] {
  const untrue = probeResults.filter(
    ({ result }) => result.hostnameVerified === false && typeof result.hostname === 'string',
  );
  return groupBy(untrue, ({ result }) => result.hostname ?? undefined).map(([name, own]) =>
    buildFinding(
      'reverse_name_unverified',
      'info',
      own,
      `The reverse name ${safeText(name)} does not lead back to the address (seen by ${naming(own)}).`,
    ),
  );
}

function differing(probeResults: readonly InfoResult[]): readonly FindingDraft[] {
  const named = probeResults.filter(({ result }) => typeof result.hostname === 'string' && result.ip !== undefined);
  return groupBy(named, ({ result }) => result.ip).flatMap(([ip, own]) => {
    // Names are compared without case (RFC 4343).
    const nameOf = ({ result }: InfoResult): string => result.hostname!.toLowerCase();
    if (new Set(own.map(nameOf)).size < 2) return [];
    const seen = tally(own, (probeResult) => safeText(nameOf(probeResult)));
    return [
      buildFinding(
        'reverse_name_differs',
        'info',
        own,
        `The reverse name of ${safeText(ip)} is not the same for all probes: ${seen}. An address may have several, of which each probe shows one.`,
      ),
    ];
  });
}
