import { HOSTILE_KEY, hostileString, hostileValue } from './hostile-values.ts';
import type { Random } from './random.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
}

/** Makes one change, after which the request is still valid, or almost valid. */
export function spoil(draft: Draft, random: Random): Draft {
  if (draft.body === undefined) {
    const query = `${random.pick(['wait', 'x', '__proto__', 'wait[]'])}=${encodeURIComponent(wellFormed(hostileString(random)).slice(0, 500))}`;
    return random.pick([
      { ...draft, method: random.pick(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']) },
      { ...draft, path: `${draft.path}${draft.path.includes('?') ? '&' : '?'}${query}` },
      { ...draft, path: `${draft.path}/` },
      withKey(draft, random),
      { ...draft, headers: [...draft.headers, ['If-None-Match', '*'] as const] },
      { ...draft, headers: [...draft.headers, ['Last-Event-ID', '999999999999999999999'] as const] },
    ]);
  }
  const body = JSON.parse(draft.body) as Record<string, unknown>;
  const names = Object.keys(body);
  const name = names.length === 0 ? 'type' : random.pick(names);
  const options = body['options'] as Json | undefined;
  const spoiled = random.pick<() => unknown>([
    () => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name)),
    () => ({ ...body, [name]: hostileValue(random) }),
    () => ({ ...body, host: hostileString(random) }),
    () => ({ ...body, [hostileString(random).slice(0, 500)]: hostileValue(random) }),
    () => ({
      ...body,
      options: { ...options, [random.pick([...Object.keys(options ?? {}), 'x'])]: hostileValue(random) },
    }),
    () => ({ ...body, probes: ['unknown-1'] }),
    () => ({ ...body, probes: ['fra-1'], locations: ['de'] }),
    () => ({ ...body, limit: random.pick([0, 101, 1.5]) }),
    () => [body],
  ])();
  return { ...draft, body: JSON.stringify(spoiled) };
}

/** Adds an `Authorization` header with a key that is not valid. */
function withKey(draft: Draft, random: Random): Draft {
  const value = random.pick([
    `Bearer ${HOSTILE_KEY}`,
    'Bearer',
    `bearer  ${hostileString(random)
      .replaceAll(/[^ -~]/g, '')
      .slice(0, 300)}`,
    'Basic dXNlcjpwYXNz',
    `Bearer ${'x'.repeat(2_000)}`,
  ]);
  return { ...draft, headers: [...draft.headers, ['Authorization', value]] };
}

/** Makes one change that no proper client would make, in the body or in the HTTP request. */
export function wreck(draft: Draft, random: Random): Draft {
  const text = draft.body ?? '';
  return random.pick<() => Draft>([
    () => ({ ...draft, body: text.slice(0, random.below(text.length + 1)) }),
    () => ({ ...draft, body: `${'['.repeat(7_000)}${']'.repeat(7_000)}` }),
    () => ({ ...draft, body: text.replace('{', '{"__proto__":{"limit":1},') }),
    () => ({ ...draft, body: ' '.repeat(16_385) }),
    () => ({ ...draft, body: Array.from({ length: 64 }, () => String.fromCharCode(random.below(256))).join('') }),
    () => ({
      ...draft,
      headers: [['Content-Type', random.pick(['text/plain', 'application/json; charset=utf-7', ';'])]],
    }),
    () => ({ ...draft, headers: [...draft.headers, ['Content-Encoding', random.pick(['gzip', 'br', 'x'])]] }),
    () => ({ ...draft, headers: [...draft.headers, ['X-Forwarded-For', hostileString(random).slice(0, 300)]] }),
    () => ({ ...draft, headers: [...draft.headers, ['Idempotency-Key', hostileString(random).slice(0, 300)]] }),
    () => ({
      ...draft,
      headers: [...draft.headers, ['Content-Length', random.pick(['0', '5', '-1', 'x', '99999999999'])]],
    }),
    () => ({
      ...draft,
      headers: [...draft.headers, ['Transfer-Encoding', random.pick(['chunked', 'gzip', 'chunked, x'])]],
    }),
    () => withKey(draft, random),
    () => ({ ...draft, headers: [...draft.headers, ['Cookie', 'x'.repeat(9_000)]] }),
    () => ({ ...draft, path: `/${encodeURIComponent(wellFormed(hostileString(random)))}` }),
    () => ({ ...draft, path: `/${hostileString(random)}` }),
    () => ({ ...draft, path: draft.path.replace(/[^/]+$/, '%ff%00..%2f') }),
    () => ({ ...draft, path: random.pick(['*', '//x', 'http://[', 'x', '/%', '/\\', `/${'a/'.repeat(3_000)}`]) }),
    () => ({ ...draft, method: random.pick(['BREW', 'CONNECT', 'get', 'PROPFIND', 'PRI']) }),
  ])();
}

function wellFormed(text: string): string {
  return text.toWellFormed();
}
