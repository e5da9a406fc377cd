import { describe, expect, it } from '@jest/globals';

import { withoutCheckIds } from './without-check-ids.ts';

const id = 'Zm9vYmFyLWJhei1xdXh_-1';
const encode = (text: string): string => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');

describe('the path in a log line', () => {
  it.each([
    ['as it is', `/check/${id}/results`],
    ['at the end', `/check/${id}`],
    ['with a prefix of the service', `/net/check/${id}/events`],
    ['percent-encoded', `/check/${encode(id)}/results`],
    ['with one letter encoded', `/check/%5a${id.slice(1)}/results`],
    ['encoded twice', `/check/${encode(encode(id))}/results`],
    ['encoded seven times', `/check/${[1, 2, 3, 4, 5, 6].reduce((text) => text.replaceAll('%', '%25'), encode(id))}`],
    ['followed by something', `/check/${id}.json`],
    ['followed by a letter', `/check/${id}x/results`],
    ['after two slashes', `/check//${id}/results`],
    ['with a matrix parameter', `/check/${id};a=b`],
    ['in a path that does not exist', `/anything/${id}`],
    ['with an encoded slash', `/check%2f${id}%2Fresults`],
    ['next to bytes that are no UTF-8', `/check/%ff${encode(id)}`],
  ])('has no id of a check %s', (_how, path) => {
    const shown = withoutCheckIds(path);

    expect(shown).not.toContain(id);
    expect(decodeEverything(shown)).not.toContain(id);
  });

  it.each(['/', '/check', '/probes', '/problems/unsupported-media-type', '/.well-known/security.txt', '/openapi.json'])(
    'is %s where there is none',
    (path) => {
      expect(withoutCheckIds(path)).toBe(path);
    },
  );

  it('has the same digest for the same check', () => {
    expect(withoutCheckIds(`/check/${encode(id)}/results`)).toBe(withoutCheckIds(`/check/${id}/results`));
    expect(withoutCheckIds(`/check/${id}/results`)).toMatch(/^\/check\/sha256:[\w-]{12}\/results$/);
  });
});

function decodeEverything(text: string): string {
  const next = text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return next === text ? text : decodeEverything(next);
}
