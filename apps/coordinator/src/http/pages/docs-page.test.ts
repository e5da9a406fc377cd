import { describe, expect, it } from '@jest/globals';

import { curlExample } from './curl-example.ts';
import { schemaSections } from './schema-sections.ts';

const URL = 'https://vantage.example.com';

describe('the command of an operation', () => {
  it('has the required parameters, the first example of a body, and a key only where one is needed', () => {
    const body = { content: { 'application/json': { examples: { ping: { value: { type: 'ping', host: 'a' } } } } } };
    const id = { name: 'id', in: 'path', required: true, example: 'abc' };
    const target = { name: 'target', in: 'query', required: true, example: 'https://example.com/?a=b' };
    const example = (method: string, path: string, operation: object): string =>
      curlExample(URL, { method, path, operation: { responses: {}, ...operation } });

    expect(example('post', '/check', { requestBody: body, security: [{}, { apiKey: ['check'] }] })).toBe(
      `curl -s -X POST '${URL}/check' -H 'content-type: application/json' -d '{"type":"ping","host":"a"}'`,
    );
    expect(example('delete', '/check/{id}', { parameters: [id], security: [{ apiKey: ['monitor'] }] })).toBe(
      `curl -s -X DELETE '${URL}/check/abc' -H 'authorization: Bearer vtg_…'`,
    );
    expect(example('get', '/probe', { parameters: [target, { name: 'limit', in: 'query' }] })).toBe(
      `curl -s '${URL}/probe?target=https%3A%2F%2Fexample.com%2F%3Fa%3Db'`,
    );
    expect(example('get', '/e', { responses: { '200': { content: { 'text/event-stream': {} } } } })).toBe(
      `curl -sN '${URL}/e'`,
    );
  });

  it('quotes what a shell would read', () => {
    const requestBody = { content: { 'application/json': { example: "it's" } } };

    expect(curlExample(URL, { method: 'put', path: '/', operation: { responses: {}, requestBody } })).toContain(
      String.raw`-d '"it'\''s"'`,
    );
  });
});

describe('the schemas of the reference', () => {
  const field = (type: string): object => ({ type, description: `A ${type}.` });
  const fields = Object.fromEntries('abcdefghij'.split('').map((name) => [name, field('string')]));
  const schema = (properties: object): never => ({ type: 'object', properties }) as never;
  const rowsOf = (markup: string): readonly string[] =>
    [...markup.matchAll(/<th scope="row">\s*<code>(\w+)</g)].map(([, name]) => name!);

  it('list the fields of a variant once, and name what differs', () => {
    const { j: _absent, ...most } = fields;
    const { markup } = schemaSections([
      ['Whole', schema(fields)],
      ['Variant', schema({ ...most, b: field('number'), k: field('boolean') })],
      ['Other', schema({ z: field('string') })],
    ]);
    const [whole, variant, other] = markup.split('<details').slice(1);

    expect(rowsOf(whole!)).toEqual('abcdefghij'.split(''));
    expect(rowsOf(variant!)).toEqual(['b', 'k']);
    expect(variant).toMatch(/<a href="#schema-Whole">Whole<\/a\s*>\s*without\s*<code>j<\/code>, and:/);
    expect(rowsOf(other!)).toEqual(['z']);
  });
});
