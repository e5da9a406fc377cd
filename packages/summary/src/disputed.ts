import { answerKindOf, classifiedAnswer } from './dns-answer.ts';
import { isStale } from './extended-errors.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { familyOfRedirect, redirectedTo } from './redirected.ts';

type Http = SparseResultOf<'http'>;

/** Marks results according to which a name, or an address of it, does not exist, if other probes found it. */
export function markDisputed(type: string, probeResults: readonly ProbeResult[]): readonly ProbeResult[] {
  const isFound = type === 'dns' ? hasOtherAnswer : isResolvedElsewhere;
  return probeResults.map((one) =>
    probeResults.some((other) => isFound(one.result, other.result)) ? { ...one, isDisputed: true } : one,
  );
}

/** The reason of a disputed result, worded as a statement of its resolver. */
export function saidReason(reason: string, isTrace: boolean): string {
  return reason.startsWith('the answer says')
    ? reason
    : `${isTrace ? 'a name server of the zone' : 'the resolver'} says that ${reason.replace(/^it is\b/, 'the name is')}`;
}

function hasOtherAnswer(result: SparseResultOf<'dns'>, other: SparseResultOf<'dns'>): boolean {
  if (answerKindOf(result) !== 'nxdomain' || isStale(other)) return false;
  // An answer without proof by DNSSEC does not dispute a proof that the name does not exist.
  if (isValidated(result) && !isValidated(other)) return false;
  const kind = answerKindOf(other);
  // An alias alone does not show whether its target name exists.
  const isOfAlias = kind === 'alias' && classifiedAnswer(result)?.canonicalName === null;
  return kind === 'answer' || kind === 'nodata' || isOfAlias;
}

/** True if the resolver says that it validated the answer by DNSSEC. */
export function isValidated({ dnssec }: SparseResultOf<'dns'>): boolean {
  return dnssec?.verdict === 'validated';
}

/** True if, by the first result, a name or its address of a family does not exist, and the other result has it. */
function isResolvedElsewhere(result: Http, other: Http): boolean {
  const { error, redirects = [] } = result;
  if (error?.phase !== 'resolve') return false;
  if ((error.code !== 'dns_nxdomain' && error.code !== 'dns_no_address') || familyOfRedirect(result) !== undefined)
    return false;
  const host = redirects.length === 0 ? '' : redirectedTo(result)?.hostname;
  if (error.code === 'dns_nxdomain' && host === '' && other.error?.code === 'dns_no_address') return true;
  return addressesOf(other).some(
    (found) =>
      found.host === host && (error.family === undefined || found.address.includes(':') === (error.family === 6)),
  );
}

/** The measured addresses by host, that of the target as the empty text. */
function addressesOf({ redirects = [], url, resolvedIp, otherFamily }: Http): readonly Found[] {
  const last = redirects.length === 0 ? '' : (URL.parse(url ?? '')?.hostname ?? '');
  const second = otherFamily?.redirects === undefined || otherFamily.redirects.length === 0 ? otherFamily : undefined;
  return [
    ...redirects.flatMap((redirect, index) => [
      { host: URL.parse(redirect.url)?.hostname ?? '', address: redirect.resolvedIp },
      ...(index === 0 ? [{ host: '', address: redirect.resolvedIp }] : []),
    ]),
    { host: last, address: resolvedIp },
    { host: '', address: second?.resolvedIp },
  ].filter((found): found is Found => typeof found.address === 'string');
}

interface Found {
  readonly host: string;
  readonly address: string;
}
