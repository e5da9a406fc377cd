import type { IncomingMessage } from 'node:http';

import { HttpProblem } from './problem.ts';

/**
 * The fault of a request that Node accepts but the service refuses: an unsupported version, framing or hosts that an
 * intermediary may interpret differently (RFC 9112 sections 3.2, 6.1 and 11.2), or a malformed target. Undefined for
 * all others.
 */
export function requestFault(request: IncomingMessage): HttpProblem | undefined {
  const { httpVersion, method = '', url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('The service speaks HTTP/1.1 and HTTP/1.0.');
  const hosts = countOf(request, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return fault('A request has one Host header.');
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return fault('The only Transfer-Encoding is chunked, in HTTP/1.1.');
  }
  if (!isTarget(method, url)) return fault('The request target is neither a path nor an http(s) URL.');
  return undefined;
}

function fault(detail: string): HttpProblem {
  return new HttpProblem('invalid-http', detail);
}

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** Accepts origin form and absolute form (RFC 9112 section 3.2) without a fragment; `*` only for OPTIONS. */
function isTarget(method: string, url: string): boolean {
  if (url === '*') return method === 'OPTIONS';
  if (url.includes('#')) return false;
  if (url.startsWith('/')) return true;
  return /^https?:\/\/[^/?#]/i.test(url) && URL.canParse(url);
}
