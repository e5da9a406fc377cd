import type { IncomingMessage } from 'node:http';

import type { KeyScope } from '@vantage/contract';
import type { Request } from 'express';

import type { ApiKey } from '../keys/api-key.ts';
import type { FoundKey, KeyRing } from '../keys/key-ring.ts';
import { StoreUnavailable } from '../redis/store-errors.ts';
import { clientAddress } from './client-address.ts';
import { HttpProblem } from './problem.ts';

/** The client of a request. */
export interface Caller {
  readonly address: string;
  /** If set, limits count the key instead of the address. */
  readonly key: ApiKey | undefined;
}

const KEY = 'apiKey';

/**
 * Validates the API key of a request, if it has one. Other credentials are ignored, because no endpoint needs any but a
 * key.
 *
 * @returns the reason to refuse the request: the key is invalid, lacks the scope, or the keys have not been read yet;
 * undefined if there is none. Unless the key is valid, the address counts as the client.
 */
export function admitCaller(
  request: Request,
  scope: KeyScope,
  keys: KeyRing,
): HttpProblem | StoreUnavailable | undefined {
  const found = findKey(request, keys);
  if (found === undefined) return undefined;
  if (found === 'unread') return new StoreUnavailable('the API keys have not been read yet');
  if ('refused' in found) {
    return new HttpProblem('unauthorized', sentences[found.refused], { headers: { 'WWW-Authenticate': CHALLENGE } });
  }
  const { key } = found;
  request.res!.locals[KEY] = key;
  if (key.scopes.includes(scope)) return undefined;
  return new HttpProblem('scope-missing', `The key ${key.name} lacks the scope ${scope}.`);
}

export function findKey({ headers }: IncomingMessage, keys: Pick<KeyRing, 'find'>): FoundKey | typeof BARE | undefined {
  if (headers.authorization === undefined) return undefined;
  const [, scheme = '', text = ''] = /^(\S+) *(.*)$/.exec(headers.authorization) ?? [];
  if (HAS_KEY.test(scheme)) return BARE;
  return isKeyToken(scheme, text) ? keys.find(text) : undefined;
}

/** False for tokens of others, which clients and proxies add to every request. */
function isKeyToken(scheme: string, text: string): boolean {
  return scheme.toLowerCase() === 'bearer' && HAS_KEY.test(text);
}

/** Matches keys, also damaged ones: in quotes, in capital letters, or after other text. */
const HAS_KEY = /\bvtg_/i;

/** `WWW-Authenticate` for an invalid key (RFC 6750 section 3.1). */
const CHALLENGE = 'Bearer realm="Vantage", error="invalid_token"';

/** A key without a scheme is refused, so that its client does not take itself for one with a key. */
const BARE = { refused: 'bare' } as const;

const sentences = {
  bare: 'The key has no scheme: send Authorization: Bearer vtg_… (in Prometheus type: Bearer).',
  malformed: 'The text after Bearer is no API key: it was cut off or changed.',
  unknown: 'There is no such API key: it was mistyped, removed or replaced.',
  expired: 'The API key has expired.',
} as const;

/** The API key that `admitCaller` has found valid; undefined if there is none. */
export function apiKeyOf({ res }: Pick<Request, 'res'>): ApiKey | undefined {
  return res?.locals[KEY] as ApiKey | undefined;
}

/**
 * The key of a request that needs one.
 *
 * @throws HttpProblem 401
 */
export function requireKey(request: Request, scope: KeyScope): ApiKey {
  const key = apiKeyOf(request);
  if (key !== undefined) return key;
  // RFC 6750 section 3.1: without credentials there is no error code.
  const headers = { 'WWW-Authenticate': 'Bearer realm="Vantage"' };
  const other = /^bearer\b/i.test(request.headers.authorization ?? '')
    ? ' The text after Bearer is none: a key begins with vtg_.'
    : '';
  throw new HttpProblem('key-missing', `The operation needs an API key with the scope ${scope}.${other}`, { headers });
}

/** @throws HttpProblem 400 if the client has no valid address */
export function callerOf(request: Request): Caller {
  return { address: clientAddress(request), key: apiKeyOf(request) };
}

/** How a problem document refers to the client. */
export function describeCaller({ key }: Caller): string {
  return key === undefined ? 'your address' : `the key ${key.name}`;
}
