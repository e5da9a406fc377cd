import { failureCodes, type FailureCode, type FindingCode, type SummaryGroup } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupsOf } from '../../groups.ts';
import { phraseOf } from '../../phrases.ts';
import { certificatePhrase } from '../../reasons.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { redirectPlace } from '../../redirected.ts';
import { hasWrongClock } from '../../clock.ts';
import {
  findDifferentCertificates,
  isIssuerUnproved,
  leafOf,
  redirectedHostOf,
  sawTheSame,
} from './certificate-difference.ts';
import { findExpiry } from './certificate-expiry.ts';
import { insideSentence, countOf, listed, naming, shown, tally, unique } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** The finding for each failure of a certificate or a handshake. */
const ofCode: Readonly<Partial<Record<FailureCode, FindingCode>>> = {
  tls_expired: 'certificate_expired',
  tls_not_yet_valid: 'certificate_not_yet_valid',
  tls_hostname_mismatch: 'certificate_hostname_mismatch',
  tls_revoked: 'certificate_revoked',
  tls_self_signed: 'certificate_untrusted',
  tls_unknown_issuer: 'certificate_untrusted',
  tls_missing_intermediate: 'certificate_untrusted',
  tls_weak_key: 'certificate_untrusted',
  tls_untrusted: 'certificate_untrusted',
  tls_handshake_failed: 'tls_failed',
  tls_protocol_unsupported: 'tls_failed',
};

export function groupCertificates(probeResults: readonly HttpResult[]): readonly SummaryGroup[] {
  return groupsOf('certificate', probeResults, (probeResult) => {
    const print = leafOf(probeResult)?.fingerprint256;
    return print === undefined ? undefined : [print];
  });
}

export function findCertificates(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const faulty = probeResults.filter((probeResult) => faultsOf(probeResult).length > 0);
  const accepted = probeResults.filter(({ result }) => result.tls?.authorized === true);
  // A client rejected after a completed handshake, as in TLS 1.3 for lack of a client certificate, belongs to neither
  // group.
  const refused = faulty.filter((probeResult) => !accepted.includes(probeResult));
  const served = accepted.filter((probeResult) => !faulty.includes(probeResult));
  return [
    ...faults(faulty),
    ...partlyByHost(refused, served),
    ...findExpiry(probeResults.filter((one) => faultOf(one) !== 'tls_expired')),
    ...findDifferentCertificates(probeResults),
  ];
}

/** Failure code of the connection or the certificate, even if the request was sent nevertheless. */
function faultOf({ result }: HttpResult): FailureCode | undefined {
  const codes = [result.tls?.authorizationError, result.error?.code];
  return codes.find(isFault) ?? undefined;
}

function isFault(code: string | null | undefined): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) && code in ofCode;
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

function faults(faulty: readonly HttpResult[]): readonly FindingDraft[] {
  const findingsOf = (probeResult: HttpResult): readonly FindingCode[] =>
    faultsOf(probeResult).map(({ code }) => ofCode[code]!);
  return unique(faulty.flatMap(findingsOf)).map((finding) => {
    const own = faulty.filter((probeResult) => findingsOf(probeResult).includes(finding as FindingCode));
    const here = (probeResult: HttpResult): readonly Fault[] =>
      faultsOf(probeResult).filter(({ code }) => ofCode[code] === finding);
    const detail = finding === 'tls_failed' ? '' : details(own);
    const isRefused = finding !== 'tls_failed';
    const phrase = (fault: Fault): string => phraseOfFault(fault).replace(THE_CERTIFICATE, isRefused ? 'it' : '$&');
    const [place = '', ...others] = unique(own.map(({ result }) => redirectPlace(result)));
    const why = tally(
      own,
      (probeResult) =>
        `${listed([...new Set(here(probeResult).map(phrase))])}${others.length > 0 ? redirectPlace(probeResult.result) : ''}`,
    );
    const where = others.length > 0 || place === '' ? '' : `${place},`;
    const text = `${isRefused ? `The certificate${where} is refused` : `${tlsFailed(own)}${where}`}: ${why}.${detail}`;
    return buildFinding(finding as FindingCode, 'critical', own, text, certificatePhrase(here(own[0]!)[0]!));
  });
}

/**
 * Text with the stage at which TLS failed: an alert after a completed handshake also leaves no connection for the
 * response.
 */
function tlsFailed(own: readonly HttpResult[]): string {
  const inHandshake = own.filter(({ result }) => result.error?.phase === 'tls');
  if (inHandshake.length === own.length) return 'No TLS connection could be made';
  return inHandshake.length === 0 ? 'TLS failed after the handshake' : 'TLS failed, in the handshake or after it';
}

function phraseOfFault({ code, reason }: Fault): string {
  if (reason === undefined) return phraseOf(code);
  return insideSentence(shown(reason, 300));
}

/** Sentence with the subjects, issuers and ends of validity of the certificates; empty if results have none. */
function details(probeResults: readonly HttpResult[]): string {
  const told = groupBy(probeResults, ({ result }) => {
    const { sslSubject, sslIssuer, sslValidUntil } = result;
    if (sslSubject === undefined && sslIssuer === undefined) return undefined;
    const until =
      sslValidUntil === null || sslValidUntil === undefined ? '' : `, valid until ${shown(sslValidUntil.slice(0, 10))}`;
    return `${shown(sslSubject ?? 'an unnamed subject')}, issued by ${shown(sslIssuer ?? 'an unnamed issuer')}${until}`;
  });
  return told.length === 0
    ? ''
    : ` It names ${listed(
        told.map(([text]) => text),
        2,
      )}.`;
}

/** Findings: TLS fails for some probes and works for others with one host, to which redirects may have led. */
function partlyByHost(faulty: readonly HttpResult[], accepted: readonly HttpResult[]): readonly FindingDraft[] {
  return groupBy(faulty, redirectedHostOf).flatMap(([host, own]) =>
    partly(
      own,
      accepted.filter((probeResult) => redirectedHostOf(probeResult) === host),
    ),
  );
}

function partly(faulty: readonly HttpResult[], accepted: readonly HttpResult[]): readonly FindingDraft[] {
  if (faulty.length === 0 || accepted.length === 0) return [];
  const isByTrust = faulty.every((one) => isIssuerUnproved(one) && accepted.some((other) => sawTheSame(one, other)));
  const cause = isByTrust
    ? ', with the same certificates: the probes trust different authorities, by their releases or their CA_FILE.'
    : ': perhaps a server that was left out of a change, or something on the way that answers in the target’s place.';
  const text = `TLS fails for ${naming(faulty)} and works for ${naming(accepted)}${cause}`;
  return [
    buildFinding(
      'certificate_fails_on_some',
      'warning',
      faulty,
      text,
      `TLS fails for ${countOf(faulty.length, 'probe')}`,
    ),
  ];
}
