import type { Failure } from '@vantage/contract';

import type { DiagnosticContext } from '../../diagnostic.ts';
import { no, requestHeaders, type Request } from '../../http-client/request.ts';
import type { Step } from './hop/hop-timings.ts';
import { MAX_TOKEN_BYTES, type OAuth2Grant } from './request-rules.ts';
import { takeStep } from './hop/run-hop.ts';
import type { Http } from './types.ts';

export type TokenReading =
  | { readonly authorization: string; readonly failure: null }
  /** The message of the failure contains neither credentials nor token. */
  | { readonly failure: Failure };

/**
 * Gets a token by the credentials of a client (RFC 6749 section 4.4). The target policy applies to the token server as
 * to any target. As in Go's client the credentials are sent in the header first (section 2.3.1), and in the body if the
 * answer to that has no token; redirects are not followed.
 */
export async function fetchToken(grant: OAuth2Grant, context: DiagnosticContext<Http>): Promise<TokenReading> {
  const first = await askFor(grant, 'header', context);
  return first.failure === null || !first.isAnswered ? first : askFor(grant, 'body', context);
}

type Answer = TokenReading & { readonly isAnswered: boolean };

async function askFor(
  grant: OAuth2Grant,
  credentialsIn: 'header' | 'body',
  context: DiagnosticContext<Http>,
): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  const step = await takeStep(
    {
      ...tokenRequest(grant, credentialsIn, context.attribution.userAgent),
      onBody: (bytes) => void chunks.push(bytes),
    },
    {
      insecureSSL: grant.tls.insecure,
      httpVersion: '1.1',
      family: undefined,
      tls: grant.tls,
      onProgress: () => undefined,
    },
    context,
  );
  return { ...readAnswer(step, Buffer.concat(chunks).toString()), isAnswered: step.head !== null };
}

function tokenRequest(grant: OAuth2Grant, credentialsIn: 'header' | 'body', userAgent: string): Request {
  const { clientId, clientSecret, scopes, parameters } = grant;
  const inBody = credentialsIn === 'body' ? { client_id: clientId, client_secret: clientSecret } : {};
  const scope = scopes.length === 0 ? {} : { scope: scopes.join(' ') };
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...scope, ...inBody, ...parameters }).toString();
  const pair = [clientId, clientSecret].map(formEncoded).join(':');
  const basic = { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(Buffer.byteLength(body)),
    ...(credentialsIn === 'header' ? basic : {}),
  };
  return {
    url: new URL(grant.tokenUrl),
    method: 'POST',
    body: Buffer.from(body),
    headers: requestHeaders(userAgent, headers),
    maxBodyBytes: MAX_TOKEN_BYTES,
    followsRedirects: false,
  };
}

/** Encodes text as `application/x-www-form-urlencoded` (RFC 6749 section 2.3.1 requires it for client credentials). */
function formEncoded(text: string): string {
  return new URLSearchParams([[text, '']]).toString().slice(0, -1);
}

function readAnswer({ failure, head }: Step, body: string): TokenReading {
  if (failure !== null) return { failure: { ...failure, message: `No token was given: ${failure.message}` } };
  const status = head?.statusCode ?? 0;
  if (status < 200 || status > 299)
    return { failure: no('token_refused', `The token server answered with status ${status}.`) };
  const { access_token: token, token_type: type } = fieldsOf(body);
  // A token is printable ASCII (RFC 6749 appendix A.12); anything else could add lines to the request.
  if (typeof token !== 'string' || !/^[\x20-\x7e]{1,8192}$/.test(token)) {
    return { failure: no('token_refused', 'The answer of the token server has no token.') };
  }
  const scheme = typeof type === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(type) ? type : 'Bearer';
  return { authorization: `${/^bearer$/i.test(scheme) ? 'Bearer' : scheme} ${token}`, failure: null };
}

/** JSON, or a form, which some servers answer with. */
function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return Object.fromEntries(new URLSearchParams(body));
  }
}
