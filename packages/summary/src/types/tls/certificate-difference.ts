import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { redirectedTo } from '../../redirected.ts';
import { naming, safeText, tally } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Findings: probes saw different certificates. Compared per host, because redirects may lead to different hosts. */
export function findDifferentCertificates(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  return groupBy(probeResults, redirectedHostOf).flatMap(([, own]) => differingAtOne(own));
}

function differingAtOne(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const shownOne = probeResults.filter((probeResult) => leafOf(probeResult) !== undefined);
  const leaves = groupBy(shownOne, (probeResult) => leafOf(probeResult)!.fingerprint256);
  if (leaves.length < 2) return [];
  // The organisation of the issuer: an authority may sign the certificates of one name with different intermediates.
  const issuerOf = (probeResult: HttpResult): string =>
    safeText(probeResult.result.sslIssuer ?? leafOf(probeResult)!.issuer, 60);
  const issuers = groupBy(shownOne, issuerOf);
  const unproved = shownOne.filter(isIssuerUnproved);
  if (issuers.length < 2 && unproved.length > 0 && unproved.length < shownOne.length) {
    const proved = shownOne.filter((one) => !unproved.includes(one));
    const text =
      `Probes were shown ${leaves.length} different certificates that name one issuer (${issuerOf(shownOne[0]!)}). ` +
      `It is proved for ${naming(proved)}, and not for ${naming(unproved)}.`;
    return [buildFinding('certificate_differs', 'warning', shownOne, text)];
  }
  if (issuers.length < 2) {
    const isUsual = shownOne.every(({ result: { tls } }) => tls?.authorized === true);
    const text = `Probes were shown ${leaves.length} different certificates of one issuer (${issuerOf(shownOne[0]!)})${isUsual ? ', as servers of one name often have' : ''}.`;
    return [buildFinding('certificate_differs', 'info', shownOne, text)];
  }
  const text = `Probes were shown ${leaves.length} different certificates of ${issuers.length} issuers: ${tally(shownOne, issuerOf)}.`;
  return [buildFinding('certificate_differs', 'warning', shownOne, text)];
}

/** Faults of a chain that does not end at a trusted root: its issuer names are unproved. */
const OF_TRUST: ReadonlySet<string> = new Set([
  'tls_self_signed',
  'tls_unknown_issuer',
  'tls_missing_intermediate',
  'tls_untrusted',
]);

/** True if the chain of a probe does not prove the issuer of the certificate. */
export function isIssuerUnproved({ result: { tls } }: HttpResult): boolean {
  return [tls?.authorizationError, ...(tls?.faults ?? []).map(({ code }) => code)].some(
    (code) => typeof code === 'string' && OF_TRUST.has(code),
  );
}

/** True if two probes got the same certificates, as far as chains without a trusted root can be compared. */
export function sawTheSame(
  { result: { tls: refused } }: HttpResult,
  { result: { tls: accepted } }: HttpResult,
): boolean {
  const [chain, other] = [refused?.chain ?? [], accepted?.chain ?? []];
  const isSame = chain.every(({ fingerprint256 }, index) => other[index]?.fingerprint256 === fingerprint256);
  return chain.length > 0 && isSame && refused?.sentCertificates === accepted?.sentCertificates;
}

export function leafOf({
  result,
}: HttpResult): NonNullable<SparseResultOf<'http'>['tls']>['chain'][number] | undefined {
  return result.tls?.chain[0];
}

/** The host of the last URL, if redirects led there from another origin, else the empty string. */
export function redirectedHostOf({ result }: HttpResult): string {
  return redirectedTo(result)?.host ?? '';
}
