import { createHash } from 'node:crypto';

import type { Request, Response } from 'express';

import { compress, encodingFor, type CompressedCache, type Encoding } from './compression.ts';

/** @param kept cache of compressed bytes, for a response that many clients request */
export function sendJson(request: Request, response: Response, body: unknown, kept?: CompressedCache): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body));
  const compressed = kept && ((encoding: Encoding, tag: string) => kept.of(tag, bytes, encoding));
  return sendText(request, response, 'application/json; charset=utf-8', bytes, compressed);
}

/**
 * Like `sendTagged`, compressed if the client accepts it.
 *
 * @param compressed returns the bytes in an encoding
 */
export async function sendText(
  request: Request,
  response: Response,
  contentType: string,
  bytes: Buffer,
  compressed: (encoding: Encoding, tag: string) => Promise<Buffer> = (encoding) => compress(bytes, encoding),
): Promise<void> {
  response.vary('Accept-Encoding');
  const encoding = encodingFor(request, bytes.length);
  // A strong tag identifies the bytes as sent (RFC 9110 section 8.8.3.3).
  const tag = tagOf(bytes);
  if (isKnown(request, response, `"${tag}${encoding === undefined ? '' : `-${encoding}`}"`)) return;
  await sendEncoded(response, contentType, encoding, encoding === undefined ? bytes : compressed(encoding, tag));
}

/** Like `sendText`, without an `ETag`: the response is sent whole, whatever the client has. */
export async function sendFresh(
  request: Request,
  response: Response,
  contentType: string,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text);
  response.vary('Accept-Encoding');
  const encoding = encodingFor(request, bytes.length);
  await sendEncoded(response, contentType, encoding, encoding === undefined ? bytes : compress(bytes, encoding));
}

async function sendEncoded(
  response: Response,
  contentType: string,
  encoding: Encoding | undefined,
  encoded: Buffer | Promise<Buffer>,
): Promise<void> {
  const body = await encoded;
  // The client may have left meanwhile, or a 503 was sent.
  if (response.headersSent || response.destroyed) return;
  if (encoding !== undefined) response.set('Content-Encoding', encoding);
  response.set('Content-Type', contentType).send(body);
}

/** Sends bytes with a strong `ETag`, or 304 if the client has them (RFC 9110 section 13). */
export function sendTagged(request: Request, response: Response, contentType: string, bytes: Buffer): void {
  if (isKnown(request, response, `"${tagOf(bytes)}"`)) return;
  response.set('Content-Type', contentType).send(bytes);
}

function tagOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

/** Sends 304 if the client has the response. A precondition holds for successes alone (RFC 9110 section 13.2.1). */
function isKnown(request: Request, response: Response, tag: string): boolean {
  if (response.statusCode !== 200) return false;
  response.set('ETag', tag);
  if (!hasTag(request.headers['if-none-match'], tag)) return false;
  response.status(304).end();
  return true;
}

/**
 * Evaluates `If-None-Match` (RFC 9110 section 13.1.2). Express's `fresh` is false for `Cache-Control: no-cache`, which
 * `fetch` adds to requests with `If-None-Match`.
 */
function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = new Set(ifNoneMatch.split(',').map((part) => part.trim().replace(/^W\//, '')));
  return known.has('*') || known.has(tag);
}
