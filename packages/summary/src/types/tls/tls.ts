import { buildFinding, type FindingDraft } from '../../finding.ts';
import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';
import { redirectPlace } from '../../redirected.ts';
import { thresholds } from '../../thresholds.ts';
import { insideSentence, listed, naming, safeText, tally } from '../../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;
type Tls = NonNullable<SparseResultOf<'http'>['tls']>;
type Reason = (tls: Tls, result: SparseResultOf<'http'>) => string | undefined;

/**
 * Findings about TLS connections that were made: an outdated version, weak keys, what Chromium refuses or does not
 * offer, the stapled OCSP response, and requests for a client certificate.
 */
export function findTls(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const of = (reason: Reason): readonly HttpResult[] =>
    probeResults.filter(({ result }) => result.tls !== undefined && reason(result.tls, result) !== undefined);
  const why = (reason: Reason, own: readonly HttpResult[]): string =>
    tally(own, ({ result }) => `${reason(result.tls!, result) ?? ''}${redirectPlace(result)}`);
  const all: FindingDraft[] = [];
  const outdated = of(outdatedVersion);
  if (outdated.length > 0) {
    const text = `Of TLS 1.0 to 1.3 the server chose ${why(outdatedVersion, outdated)}, which browsers no longer speak.`;
    all.push(buildFinding('tls_outdated', 'warning', outdated, text, 'over a version of TLS that browsers refuse'));
  }
  const refused = of(chromiumRefusal);
  if (refused.length > 0) {
    const text = `Chromium, and so Chrome and Edge, cannot connect: ${why(chromiumRefusal, refused)}.`;
    all.push(buildFinding('tls_browser_refused', 'warning', refused, text, 'Chromium cannot connect'));
  }
  const weak = of(weakKeyExchange);
  if (weak.length > 0) {
    const text = `The server agreed on its keys by ${why(weakKeyExchange, weak)}, which is too weak.`;
    all.push(buildFinding('tls_key_exchange_weak', 'warning', weak, text));
  }
  const unusable = of(chromiumFault);
  if (unusable.length > 0) {
    const text = `Chromium, and so Chrome and Edge, refuse what the check accepts: ${why(chromiumFault, unusable)}.`;
    all.push(
      buildFinding(
        'certificate_browser_refused',
        'warning',
        unusable,
        text,
        'with a certificate that Chromium refuses',
      ),
    );
  }
  const unstapled = of(stapleFault);
  if (unstapled.length > 0) {
    const text = `Some browsers, such as Firefox, may refuse the certificate: ${why(stapleFault, unstapled)}.`;
    const isSent = unstapled.some(({ result }) => isStapled(result.tls!));
    const brief = isSent
      ? 'with an OCSP response that browsers may refuse'
      : 'with a certificate that demands an OCSP response, which the server does not send';
    all.push(buildFinding('certificate_staple_bad', 'warning', unstapled, text, brief));
  }
  const asking = probeResults.filter(({ result }) => result.tls?.clientCertificateRequested === true);
  if (asking.length > 0) {
    const text = `The server asks ${naming(asking)} for a certificate of the client, which a probe does not have.`;
    all.push(buildFinding('tls_client_certificate', 'info', asking, text));
  }
  return all;
}

const OUTDATED: ReadonlyMap<string, string> = new Map([
  ['TLSv1', 'TLS 1.0'],
  ['TLSv1.1', 'TLS 1.1'],
]);

/** The negotiated version if it is outdated. */
function outdatedVersion({ protocol }: Tls): string | undefined {
  return OUTDATED.get(protocol);
}

function chromiumRefusal({ chromiumRefusal: reason }: Tls): string | undefined {
  return reason === undefined ? undefined : insideSentence(safeText(reason.replace(/\.$/, ''), 300));
}

/** True if the check found that Chromium agrees with the server on no TLS connection. */
export function isWithoutChromium(tls: Tls): boolean {
  return outdatedVersion(tls) !== undefined || tls.chromiumRefusal !== undefined;
}

function weakKeyExchange({ keyExchange }: Tls): string | undefined {
  if (keyExchange === null || keyExchange === undefined) return undefined;
  const { group, bits } = keyExchange;
  const minimum = group === 'DH' ? thresholds.keyExchangeBits.finiteField : thresholds.keyExchangeBits.curve;
  return bits < minimum ? `${group === 'DH' ? 'Diffie-Hellman' : safeText(group)} of ${bits} bits` : undefined;
}

function chromiumFault({ chromiumFaults = [] }: Tls): string | undefined {
  const reasons = chromiumFaults.map(({ reason }) => safeText(reason.replace(/\.$/, '').replace(/^The /, 'the '), 300));
  return reasons.length === 0 ? undefined : listed(reasons);
}

function isStapled({ ocsp }: Tls): boolean {
  return ocsp !== null && ocsp !== undefined;
}

/**
 * Fault of a stapled OCSP response (RFC 6066 section 8), or its absence despite must-staple (RFC 7633); undefined
 * without a fault.
 */
function stapleFault({ ocsp, mustStaple }: Tls, { finishedAt }: SparseResultOf<'http'>): string | undefined {
  if (ocsp === null || ocsp === undefined) {
    return mustStaple === true ? 'it demands a stapled OCSP response, and the server sends none' : undefined;
  }
  if (ocsp.status === 'malformed') return 'the stapled OCSP response cannot be read';
  if (ocsp.status === 'foreign') return 'the stapled OCSP response is about another certificate';
  if (ocsp.status === 'error') {
    const demanded = 'it demands a stapled OCSP response, and the responder gave none';
    return mustStaple === true ? demanded : 'the stapled OCSP response is an error of the responder';
  }
  if (ocsp.signature === 'invalid') return 'the signature of the stapled OCSP response is wrong';
  if (ocsp.status === 'unknown') return 'its issuer does not know it, by the stapled OCSP response';
  return dateFault(ocsp, finishedAt);
}

const DAY_MS = 86_400_000;

/**
 * Fault of the dates, by the rules of Firefox: a validity of 10 days at most, or of one without `nextUpdate`, and a
 * tolerance of a day. Compares with the end of the check by the clock of the service; if a date is not known, the
 * probe decided, whose clock may be wrong.
 */
function dateFault(
  { thisUpdate, nextUpdate, current }: NonNullable<Tls['ocsp']>,
  finishedAt: string | undefined,
): string | undefined {
  const [from, next, now] = [thisUpdate, nextUpdate, finishedAt].map((time) => Date.parse(time ?? '')) as [
    number,
    number,
    number,
  ];
  if (Number.isNaN(from) || Number.isNaN(now)) return current ? undefined : 'the stapled OCSP response is out of date';
  if (from > now + DAY_MS) return 'the stapled OCSP response is not valid yet';
  if (next + DAY_MS < now) return 'the stapled OCSP response is out of date';
  const oldest = from + (Number.isNaN(next) ? 1 : 10) * DAY_MS;
  return oldest + DAY_MS < now ? 'the stapled OCSP response is too old' : undefined;
}
