import { createHash } from 'node:crypto';

import type { Request, Response } from 'express';

export function sendJson(request: Request, response: Response, body: unknown): void {
  sendTagged(request, response, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(body)));
}

/** Sends bytes with a strong `ETag`, or 304 where the caller has them already (RFC 9110 section 13). */
export function sendTagged(request: Request, response: Response, contentType: string, bytes: Buffer): void {
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  response.set('ETag', tag);
  if (hasTag(request.headers['if-none-match'], tag)) {
    response.status(304).end();
    return;
  }
  response.set('Content-Type', contentType).send(bytes);
}

/**
 * RFC 9110 section 13.1.2. Express’ own `fresh` gives way to `Cache-Control: no-cache`, which `fetch` adds to every
 * request with this header.
 */
function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = new Set(ifNoneMatch.split(',').map((part) => part.trim().replace(/^W\//, '')));
  return known.has('*') || known.has(tag);
}
