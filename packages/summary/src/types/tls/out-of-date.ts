import { acceptsByClock } from '../../clock.ts';
import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { redirectPlace } from '../../redirected.ts';
import { countOf, listed, naming, safeText, unique } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Findings: certificates out of date by the clock of the service, which the probes accepted by theirs. */
export function findOutOfDate(all: readonly HttpResult[]): readonly FindingDraft[] {
  const own = all.filter(({ result }) => acceptsByClock(result));
  return groupBy(own, codeOf).map(([code, alike]) => {
    const when = listed(unique(alike.map(timeOf)), 3);
    const isOne = alike.length === 1;
    const text =
      `By the clock of the service the certificate that ${naming(alike)} accepted ${when}. No probe refuses it for ` +
      `that: either ${isOne ? 'the clock of this probe is' : 'the clocks of these probes are'} wrong, and other clients refuse it, or the clock of the service is.`;
    const brief = `with a certificate that is out of date for ${isOne ? naming(alike) : countOf(alike.length, 'probe')}`;
    return buildFinding(code as Code, 'warning', alike, text, brief);
  });
}

type Code = 'certificate_expired' | 'certificate_not_yet_valid';

function codeOf({ result }: HttpResult): Code {
  const { validUntil } = result.tls!.chain[0]!;
  const isPast = Date.parse(validUntil ?? '') < Date.parse(result.finishedAt!);
  return isPast ? 'certificate_expired' : 'certificate_not_yet_valid';
}

/** Such as `ended at 2026-01-01T00:00:00.000Z`. */
function timeOf(probeResult: HttpResult): string {
  const { validFrom, validUntil } = probeResult.result.tls!.chain[0]!;
  const said =
    codeOf(probeResult) === 'certificate_expired'
      ? `ended at ${safeText(validUntil ?? '', 40)}`
      : `begins at ${safeText(validFrom ?? '', 40)}`;
  return `${said}${redirectPlace(probeResult.result)}`;
}
