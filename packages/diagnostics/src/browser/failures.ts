import type { Failure, FailureCode } from '@vantage/contract';

import { errorText } from './error-text.ts';

type Known = readonly [code: FailureCode, phase: Failure['phase'], message: string];

/** Failures by the name of Chromium's network error (net/base/net_error_list.h) without `net::ERR_`. */
const known: Readonly<Record<string, Known>> = {
  CERT_DATE_INVALID: ['tls_expired', 'tls', 'The certificate is not valid today.'],
  CERT_COMMON_NAME_INVALID: ['tls_hostname_mismatch', 'tls', 'The certificate is not for this host.'],
  CERT_AUTHORITY_INVALID: ['tls_unknown_issuer', 'tls', 'The certificate chain ends at an issuer that is not trusted.'],
  CERT_REVOKED: ['tls_revoked', 'tls', 'The certificate is revoked.'],
  CERT_WEAK_SIGNATURE_ALGORITHM: ['tls_weak_key', 'tls', 'The signature of the certificate is too weak.'],
  CERT_WEAK_KEY: ['tls_weak_key', 'tls', 'The key of the certificate is too weak.'],
  SSL_VERSION_OR_CIPHER_MISMATCH: [
    'tls_protocol_unsupported',
    'tls',
    'The server and the browser have no TLS in common.',
  ],
  HTTP2_INADEQUATE_TRANSPORT_SECURITY: [
    'tls_protocol_unsupported',
    'tls',
    'The server speaks HTTP/2 with a cipher suite that HTTP/2 prohibits.',
  ],
  SSL_PROTOCOL_ERROR: ['tls_handshake_failed', 'tls', 'The TLS handshake failed.'],
  TOO_MANY_REDIRECTS: ['redirect_limit', 'response', 'The redirects do not end.'],
  UNSAFE_REDIRECT: ['redirect_refused', 'response', 'A redirect leads to something that is no http(s) URL.'],
  UNKNOWN_URL_SCHEME: ['redirect_refused', 'response', 'A redirect leads to something that is no http(s) URL.'],
  CONNECTION_RESET: ['connection_reset', 'response', 'The target reset the connection.'],
  CONNECTION_CLOSED: ['connection_closed', 'response', 'The target closed the connection.'],
  EMPTY_RESPONSE: ['connection_closed', 'response', 'The target closed the connection without an answer.'],
  INVALID_HTTP_RESPONSE: ['http_malformed', 'response', 'The answer was not valid HTTP.'],
  INVALID_CHUNKED_ENCODING: ['http_malformed', 'response', 'The chunks of the answer are not valid.'],
  RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH: severalHeaders('Content-Length'),
  RESPONSE_HEADERS_MULTIPLE_CONTENT_DISPOSITION: severalHeaders('Content-Disposition'),
  RESPONSE_HEADERS_MULTIPLE_LOCATION: severalHeaders('Location'),
  RESPONSE_HEADERS_TOO_BIG: ['http_headers_too_large', 'response', 'The head of the answer is too large.'],
  // RST_STREAM looks the same, as from those who refuse automatic browsers.
  HTTP2_PROTOCOL_ERROR: ['http2_ended', 'response', 'The target ended the HTTP/2 stream, or the answer was not valid.'],
  HTTP2_COMPRESSION_ERROR: ['http_malformed', 'response', 'The headers of the answer are not valid HTTP/2.'],
  SSL_KEY_USAGE_INCOMPATIBLE: [
    'tls_untrusted',
    'tls',
    'The key usage of the certificate does not allow the handshake.',
  ],
  CONTENT_DECODING_FAILED: ['http_decode_failed', 'response', 'The body could not be decoded.'],
  TIMED_OUT: ['timed_out', 'response', 'The page did not load in time.'],
  ABORTED: [
    'screenshot_failed',
    'response',
    'The target answered with no page, but with nothing, a download, or a redirect to what no browser opens.',
  ],
};

function severalHeaders(name: string): Known {
  return ['http_malformed', 'response', `The answer has several ${name} headers that differ.`];
}

/** Why there is no screenshot, from an error thrown while the page was loaded or captured. */
export function navigationFailure(thrown: unknown): Failure {
  if (Error.isError(thrown) && thrown.name === 'TimeoutError') return tooSlow();
  const text = errorText(thrown);
  const name = /net::ERR_([A-Z0-9_]+)/.exec(text)?.[1];
  if (name !== undefined && Object.hasOwn(known, name)) {
    const [code, phase, message] = known[name]!;
    return { code, phase, source: 'target', message };
  }
  // Chromium closes its connections when an interface or address of the machine changes, so the target is not the
  // cause.
  if (name === 'NETWORK_CHANGED') {
    return browserFailed('The network interfaces of the probe changed while the page was loading.');
  }
  if (name?.startsWith('CERT_')) {
    return {
      code: 'tls_untrusted',
      phase: 'tls',
      source: 'target',
      message: `The certificate is not trusted (${name}).`,
    };
  }
  if (text.includes('Not attached to an active page')) {
    return pageFailed('The page went on to another one each time before it could be shown.');
  }
  return pageFailed(
    name === undefined
      ? `The page could not be shown: ${text.replace(/\.$/, '')}.`
      : `The page could not be loaded (${name}).`,
  );
}

/**
 * Adds the origin to which the page led the browser to the message of a failure, if it is not the origin of the
 * requested URL. A refusal by the target policy stays as it is.
 */
export function placedFailure(failure: Failure, asked: URL, last: URL | undefined): Failure {
  const isElsewhere = last !== undefined && last.host !== '' && last.origin !== asked.origin;
  if (!isElsewhere || failure.code === 'target_refused_by_policy') return failure;
  return { ...failure, message: `${failure.message} This was at ${last.origin}, to which it leads.` };
}

/** A failure whose source is the target. */
export function pageFailed(message: string): Failure {
  return { code: 'screenshot_failed', phase: 'response', source: 'target', message };
}

/** A failure whose source is the probe. */
export function browserFailed(message: string): Failure {
  return { code: 'screenshot_failed', phase: 'exec', source: 'probe', message };
}

export function tooSlow(): Failure {
  const message = 'The page could not be shown in time.';
  return { code: 'timed_out', phase: 'response', source: 'target', message };
}

export function noBrowser(): Failure {
  const message = 'The probe has no browser.';
  return { code: 'capability_missing', phase: 'exec', source: 'probe', message };
}

export function busy(): Failure {
  const message = 'The probe takes too many screenshots already.';
  return { code: 'probe_busy', phase: 'exec', source: 'probe', message };
}
