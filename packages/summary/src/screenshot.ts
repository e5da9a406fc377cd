import { failureCodes, type Check, type FailureCode, type Screenshot } from '@vantage/contract';

import { buildFinding, type FindingDraft } from './finding.ts';
import { phraseOf } from './phrases.ts';
import { ofType, type ProbeResult } from './probe-result.ts';
import { isWithoutChromium } from './types/tls/tls.ts';
import { insideSentence, listed, safeText } from './words.ts';

/** @param up the probes for which the target is up */
export function findScreenshot(
  check: Check,
  screenshot: Screenshot | undefined,
  up: readonly ProbeResult[],
): readonly FindingDraft[] {
  if (screenshot?.state === 'taken') return cutOff(screenshot);
  if (screenshot?.state !== 'given_up') return [];
  const { reason, probe } = screenshot;
  const answered = up.filter((one) => one.probe === probe);
  if (reason !== null && isRefusal(reason, answered) && asksAsBrowser(check)) {
    const text =
      `The browser of ${probe}, a Chromium, could not open the page, although the check got an answer: ${whyNot(reason)}. ` +
      'A browser follows redirects, asks for compressed content, and offers less of TLS than the check.';
    return [buildFinding('browser_page_failed', 'warning', answered, text, 'a browser could not open the page')];
  }
  const text = `There is no screenshot${reason === null ? '' : `: ${whyNot(reason)}`}. The other results stand without it.`;
  return [buildFinding('screenshot_missing', 'info', probe === null ? [] : [{ probe }], text)];
}

/**
 * Failures that follow from what the server sends, not from a time limit, the path, the clock of the probe
 * (`tls_expired`) or one handshake (`tls_handshake_failed`). An unknown issuer is not among them, because the browser
 * does not trust the certificates of `CA_FILE`.
 */
const refusals: ReadonlySet<FailureCode> = new Set([
  'tls_hostname_mismatch',
  'tls_revoked',
  'tls_weak_key',
  'tls_untrusted',
  'http_malformed',
  'http_headers_too_large',
  'http_decode_failed',
  'redirect_limit',
]);

/** @param answered the result of the browser's probe, if the target is up for it */
function isRefusal({ code, source }: NonNullable<Screenshot['reason']>, answered: readonly ProbeResult[]): boolean {
  if (source !== 'target' || answered.length === 0) return false;
  // Chromium reports the same for an alert of one server of several, such as one without a certificate.
  if (code === 'tls_protocol_unsupported') {
    return ofType<'http'>(answered).some(({ result: { tls } }) => tls !== undefined && isWithoutChromium(tls));
  }
  return refusals.has(code);
}

/** Options that do not change the request: the browser opens the URL without the others, and may get another answer. */
const harmless: ReadonlySet<string> = new Set(['followRedirects', 'maxBodyBytes', 'screenshot']);

function asksAsBrowser({ request }: Check): boolean {
  return request?.withheld === undefined && Object.keys(request?.options ?? {}).every((name) => harmless.has(name));
}

/** The message of the probe, which is more specific than the phrase of its code; the phrase if there is no message. */
function whyNot({ code, message }: NonNullable<Screenshot['reason']>): string {
  if (message === '') return phraseOf(Object.hasOwn(failureCodes, code) ? code : 'screenshot_failed');
  return insideSentence(safeText(message, 160));
}

function cutOff({ cutAt = [], probe }: Screenshot): readonly FindingDraft[] {
  if (cutAt.length === 0) return [];
  const text =
    `The page asks for more than a screenshot allows (limit of ${listed(cutAt)}): what is beyond it is missing in it, ` +
    'and may be there in a browser.';
  return [buildFinding('screenshot_incomplete', 'info', probe === null ? [] : [{ probe }], text)];
}
