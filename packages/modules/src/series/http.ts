import type { HttpModule } from '../plan/module.ts';
import { addressSeries } from './address.ts';
import { certificateSeries } from './certificate.ts';
import { gauge, phases, type Sample } from './families.ts';
import { bodyFault, headerFault } from './rules.ts';
import { reading, type Reading, type SparseResultOf } from './result.ts';

type Http = SparseResultOf<'http'>;

/** Codes of failures that do not fail a module, whose own rules decide about the status and the decoding. */
const IGNORED: ReadonlySet<string> = new Set(['http_status', 'http_decode_failed']);

export function httpReading(module: HttpModule, result: Http): Reading {
  const { error, statusCode } = result;
  // `truncated` alone is not sufficient: a body may be incomplete for other reasons.
  const isAtLimit = module.bodySizeLimit > 0 && result.bodyBytes === module.bodySizeLimit;
  const isCut = module.compression === undefined && isAtLimit && result.truncated === true;
  const isHttps = isSecure(result);
  return reading([
    ruleFault(module, result),
    result.result === 'pending' && 'The response did not come to its end in time.',
    error !== null && error !== undefined && !IGNORED.has(error.code) && error.message,
    statusCode !== undefined && !isValidStatus(module, statusCode) && `The status ${statusCode} is not valid.`,
    statusCode !== undefined && !isValidVersion(module, result) && `HTTP/${result.httpVersion} is not valid.`,
    lacksRules(module, result) && result.result !== 'pending' && 'The agent of this probe is too old for the module.',
    isUndecoded(module, result) && `The body does not decode as ${module.compression}, or is too large.`,
    isCut && `The body is larger than ${module.bodySizeLimit} bytes.`,
    module.failIfSsl && isHttps && 'The last request was made over TLS.',
    module.failIfNotSsl && !isHttps && 'The last request was not made over TLS.',
  ]);
}

/**
 * The first rule about headers or body that the response breaks, as a sentence. Undefined if it breaks none, if its
 * status is not valid, or if it breaks no rule about headers and the outcome of the rules for the body is missing.
 */
function ruleFault(module: HttpModule, result: Http): string | undefined {
  const { statusCode, headers: kept = [], headerCount = 0 } = result;
  if (statusCode === undefined || !isValidStatus(module, statusCode)) return undefined;
  const headers = { kept, areCut: headerCount > kept.length };
  const fault = headerFault(module.headerRules, headers);
  if (fault !== undefined || lacksRules(module, result)) return fault;
  if (isUndecoded(module, result)) {
    // Go’s gzip reader fails before the expressions are compared if the body does not begin like gzip.
    const isCompared = module.compression !== 'gzip' || result.decoded?.bytes !== 0;
    return module.bodyRules.length > 0 && isCompared ? 'The body to compare does not decode.' : undefined;
  }
  return bodyFault(module, result);
}

/** True if the outcome of the rules for the body is missing: with an older agent, or in a result that is pending. */
export function lacksRules({ bodyRules }: HttpModule, { statusCode, bodyMatches }: Http): boolean {
  return bodyRules.length > 0 && statusCode !== undefined && bodyMatches === undefined;
}

function isUndecoded({ compression }: HttpModule, { decoded }: Http): boolean {
  return compression !== undefined && decoded?.whole === false;
}

function isValidStatus({ validStatusCodes }: HttpModule, status: number): boolean {
  return validStatusCodes.length === 0 ? status >= 200 && status < 300 : validStatusCodes.includes(status);
}

function isValidVersion({ validHttpVersions }: HttpModule, { httpVersion = '' }: Http): boolean {
  return (
    validHttpVersions.length === 0 || validHttpVersions.includes(`HTTP/${httpVersion === '2' ? '2.0' : httpVersion}`)
  );
}

function isSecure({ statusCode, url = '' }: Http): boolean {
  return statusCode !== undefined && url.startsWith('https:');
}

export function httpSeries(module: HttpModule, result: Http): readonly Sample[] {
  const { statusCode = 0, redirects = [], timings } = result;
  // blackbox_exporter counts the redirect that it does not follow, and then reads no body.
  const isHeld =
    !module.followRedirects && statusCode >= 300 && statusCode < 400 && typeof result.location === 'string';
  const last = timings === undefined ? [] : [isUnconnected(result) ? { dns: timings.dns ?? 0 } : timings];
  const rounds: readonly Partial<typeof timings & object>[] = [
    ...redirects.map((redirect) => redirect.timings),
    ...last,
  ];
  const sum = (phase: 'dns' | 'connect' | 'tls' | 'firstByte' | 'download'): number =>
    rounds.reduce((total, round) => total + (round[phase] ?? 0), 0);
  const first = rounds[0]?.dns;
  const isResolved = typeof result.resolvedIp === 'string';
  return [
    ...addressSeries(result.resolvedIp, first ?? 0),
    ...phases('probe_http_duration_seconds', {
      resolve: sum('dns'),
      ...(isResolved
        ? {
            connect: sum('connect'),
            tls: sum('tls'),
            processing: sum('firstByte'),
            transfer: timings?.download ?? 0,
          }
        : {}),
    }),
    gauge('probe_http_content_length', contentLength(result)),
    gauge('probe_http_uncompressed_body_length', isHeld ? 0 : (result.decoded?.bytes ?? result.bodyBytes ?? 0)),
    gauge('probe_http_redirects', redirects.length + (isHeld ? 1 : 0)),
    gauge('probe_http_ssl', isSecure(result) ? 1 : 0),
    gauge('probe_http_status_code', statusCode),
    gauge('probe_http_version', Number(result.httpVersion ?? 0)),
    gauge('probe_failed_due_to_regex', ruleFault(module, result) === undefined ? 0 : 1),
    ...lastModified(result),
    ...(isSecure(result) && result.tls !== undefined ? certificateSeries(result.tls, module.tlsOptions.insecure) : []),
  ];
}

/**
 * In Go, a TLS handshake that fails, for example because of the certificate, makes no connection: only the DNS phase
 * counts.
 */
function isUnconnected({ statusCode, error }: Http): boolean {
  return statusCode === undefined && error?.phase === 'tls';
}

/** `ContentLength` of a Go response: −1 if the length is unknown. 0 without a response. */
function contentLength(result: Http): number {
  if (result.statusCode === undefined) return 0;
  const text = headerOf(result, 'content-length');
  const isChunked = headerOf(result, 'transfer-encoding') !== undefined;
  if (text !== undefined && /^\d+$/.test(text) && !isChunked) return Number(text);
  return result.statusCode === 204 || result.statusCode === 304 ? 0 : -1;
}

function lastModified(result: Http): readonly Sample[] {
  const at = Date.parse(headerOf(result, 'last-modified') ?? '');
  return Number.isNaN(at) ? [] : [gauge('probe_http_last_modified_timestamp_seconds', at / 1_000)];
}

function headerOf({ headers = [] }: Http, name: string): string | undefined {
  return headers.find(([key]) => key?.toLowerCase() === name)?.[1];
}
