import type { FailureCode, FindingCode, SummaryGroup } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupsOf } from '../../groups.ts';
import { phraseOf } from '../../phrases.ts';
import { certificatePhrase } from '../../reasons.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { redirectPlace } from '../../redirected.ts';
import { hasWrongClock } from '../../clock.ts';
import { findDifferentCertificates, leafOf } from './certificate-difference.ts';
import { findExpiry } from './certificate-expiry.ts';
import { findFailsOnSome } from './fails-on-some.ts';
import { isFault, isRefused, ofCode } from './fault-codes.ts';
import { findOutOfDate } from './out-of-date.ts';
import { insideSentence, countOf, listed, safeText, tally, unique } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

export function groupCertificates(probeResults: readonly HttpResult[]): readonly SummaryGroup[] {
  return groupsOf('certificate', probeResults, (probeResult) => {
    const print = leafOf(probeResult)?.fingerprint256;
    return print === undefined ? undefined : [print];
  });
}

/** @param probeResults those that count as measured */
export function findCertificates(
  probeResults: readonly HttpResult[],
  all: readonly HttpResult[],
): readonly FindingDraft[] {
  const faulty = probeResults.filter((probeResult) => faultsOf(probeResult).length > 0);
  const accepted = probeResults.filter(({ result }) => result.tls?.authorized === true);
  // A client rejected after a completed handshake, as in TLS 1.3 for lack of a client certificate, belongs to neither
  // group.
  const refused = faulty.filter((probeResult) => !accepted.includes(probeResult));
  const served = accepted.filter((probeResult) => !faulty.includes(probeResult));
  const told = faults(faulty, probeResults);
  return [
    ...told,
    ...findOutOfDate(all).filter(({ code }) => !told.some((finding) => finding.code === code)),
    ...findFailsOnSome(refused, served),
    ...findExpiry(probeResults.filter((one) => faultOf(one) !== 'tls_expired')),
    ...findDifferentCertificates(probeResults),
  ];
}

/** Failure code of the connection or the certificate, even if the request was sent nevertheless. */
function faultOf({ result }: HttpResult): FailureCode | undefined {
  const codes = [result.tls?.authorizationError, result.error?.code];
  return codes.find(isFault) ?? undefined;
}

interface Fault {
  readonly code: FailureCode;
  /** Explanation by the probe, if there is one. */
  readonly reason?: string | undefined;
  /** Position of the certificate in the chain. */
  readonly certificate?: number | null | undefined;
}

/**
 * All faults, without those that a wrong clock of the probe explains: a certificate may have several, and the result
 * reports only the first as its error.
 */
function faultsOf(probeResult: HttpResult): readonly Fault[] {
  const first = faultOf(probeResult);
  if (first === undefined) return [];
  const byClock = hasWrongClock(probeResult.result);
  const all = (probeResult.result.tls?.faults ?? []).filter(({ code }) => isFault(code));
  const own = all.filter(({ code }) => !byClock || (code !== 'tls_expired' && code !== 'tls_not_yet_valid'));
  if (all.length > 0) return own;
  return [
    {
      code: first,
      reason: first === 'tls_handshake_failed' ? withoutPlace(probeResult.result.error?.message) : undefined,
    },
  ];
}

/** Removes the place of a redirect from a message, because findings name it themselves. */
function withoutPlace(message: string | undefined): string | undefined {
  return message?.replace(/ This was at \S+, to which it redirects\.$/, '');
}

const THE_CERTIFICATE = /^the certificate(?= (?:is|has|was)\b)/;

function faults(faulty: readonly HttpResult[], all: readonly HttpResult[]): readonly FindingDraft[] {
  const findingsOf = (probeResult: HttpResult): readonly FindingCode[] =>
    faultsOf(probeResult).map(({ code }) => ofCode[code]!);
  return unique(faulty.flatMap(findingsOf)).map((finding) => {
    const own = faulty.filter((probeResult) => findingsOf(probeResult).includes(finding as FindingCode));
    const here = (probeResult: HttpResult): readonly Fault[] =>
      faultsOf(probeResult).filter(({ code }) => ofCode[code] === finding);
    const isOfCertificate = finding !== 'tls_failed';
    const phrase = (fault: Fault): string =>
      phraseOfFault(fault).replace(THE_CERTIFICATE, isOfCertificate ? 'it' : '$&');
    const [place = '', ...others] = unique(own.map(({ result }) => redirectPlace(result)));
    const why = tally(
      own,
      (probeResult) =>
        `${listed([...new Set(here(probeResult).map(phrase))])}${others.length > 0 ? redirectPlace(probeResult.result) : ''}`,
    );
    const at = others.length > 0 ? '' : place;
    const brief = certificatePhrase(here(own[0]!)[0]!);
    if (!isOfCertificate) {
      const isOfSome = all.some((one) => !own.includes(one) && madeTlsWith(one, own));
      const text = `${tlsFailed(own, isOfSome)}${at}: ${why}.`;
      return buildFinding('tls_failed', isOfSome ? 'warning' : 'critical', own, text, brief);
    }
    const verb = own.every(isRefused) ? 'is refused' : 'would be refused';
    const text = `The certificate${at}${at === '' ? '' : ','} ${verb}: ${why}.${details(own)}`;
    return buildFinding(finding as FindingCode, 'critical', own, text, brief);
  });
}

/** True if the probe made a TLS connection with a host at which the others failed, be it for a redirect. */
function madeTlsWith({ result }: HttpResult, others: readonly HttpResult[]): boolean {
  const { tls, url, redirects = [] } = result;
  const made = [...redirects.map((redirect) => redirect.url), ...(tls === undefined ? [] : [url])];
  const hosts = made.flatMap((text) => URL.parse(text ?? '') ?? []).filter(({ protocol }) => protocol === 'https:');
  return others.some((other) => hosts.some(({ host }) => host === URL.parse(other.result.url ?? '')?.host));
}

/**
 * Text with the stage at which TLS failed: an alert after a completed handshake also leaves no connection for the
 * response.
 */
function tlsFailed(own: readonly HttpResult[], isOfSome: boolean): string {
  const from = isOfSome ? ` from ${countOf(own.length, 'probe')}` : '';
  const inHandshake = own.filter(({ result }) => result.error?.phase === 'tls');
  if (inHandshake.length === own.length) return `No TLS connection could be made${from}`;
  return inHandshake.length === 0 ? 'TLS failed after the handshake' : 'TLS failed, in the handshake or after it';
}

function phraseOfFault({ code, reason }: Fault): string {
  if (reason === undefined) return phraseOf(code);
  return insideSentence(safeText(reason, 300));
}

/** Sentence with the subjects, issuers and ends of validity of the certificates; empty if results have none. */
function details(probeResults: readonly HttpResult[]): string {
  const told = groupBy(probeResults, ({ result }) => {
    const { sslSubject, sslIssuer, sslValidUntil } = result;
    if (sslSubject === undefined && sslIssuer === undefined) return undefined;
    const until =
      sslValidUntil === null || sslValidUntil === undefined
        ? ''
        : `, valid until ${safeText(sslValidUntil.slice(0, 10))}`;
    return `${safeText(sslSubject ?? 'an unnamed subject')}, issued by ${safeText(sslIssuer ?? 'an unnamed issuer')}${until}`;
  });
  return told.length === 0
    ? ''
    : ` It names ${listed(
        told.map(([text]) => text),
        2,
      )}.`;
}
