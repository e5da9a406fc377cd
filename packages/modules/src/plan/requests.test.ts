import { describe, expect, it } from '@jest/globals';

import { parseModules } from '../parse-modules.ts';
import { checkRequest } from '../request/check-request.ts';
import { describeModule } from './describe-module.ts';

/** Parses a file with one module `m` that has these options of http. */
function parse(options: string) {
  const parsing = parseModules(`modules:\n  m:\n    prober: http\n    http:\n      ${options}\n`);
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing;
}

function rulesOf(options: string): unknown {
  const request = checkRequest(parse(options).usable.get('m')!, 'example.com', 5_000);
  return request.ok ? { options: request.body['options'], rules: request.rules } : undefined;
}

describe('the request of a module', () => {
  it('has what no client can set in the rules of the job, which agents of earlier releases refuse', () => {
    const { rules, options } = rulesOf('{method: POST, body: text, headers: {User-Agent: own, X: a}}') as never;
    expect(rules).toMatchObject({
      request: { method: 'POST', body: 'text', headers: { 'User-Agent': 'own', X: 'a' } },
    });
    expect(rules).not.toHaveProperty('body');
    expect(options).not.toHaveProperty('headers');
    expect(rulesOf('{method: HEAD, headers: {X: a}}')).toMatchObject({
      options: { method: 'HEAD', headers: { X: 'a' } },
      rules: { body: [] },
    });
  });

  it('has the name of the header Host in the handshake of TLS', () => {
    expect(rulesOf('headers: {host: "a.example:8443"}')).toMatchObject({
      rules: { request: { host: 'a.example:8443', tls: { serverName: 'a.example' } } },
    });
    expect(rulesOf('{headers: {Host: a.example}, tls_config: {server_name: b.example}}')).toMatchObject({
      rules: { request: { host: 'a.example', tls: { serverName: 'b.example' } } },
    });
  });

  it('is shown without its body', () => {
    const shown = describeModule(parse('{method: POST, body: hunter2}').usable.get('m')!);
    expect(shown).toContain('body: <secret>');
    expect(shown).not.toContain('hunter2');
  });

  it.each([
    ['method: "GET /"', 'method', 'is no method'],
    ['method: CONNECT', 'method', 'is for proxies'],
    ['compression: lzma', 'compression', 'must be one of gzip, br, deflate, identity'],
    [`body: ${'ü'.repeat(8_193)}`, 'body', 'more than 16384 bytes'],
    ['headers: {Host: "a b"}', 'headers', 'neither a host'],
    ['headers: {Transfer-Encoding: chunked}', 'headers', 'governs the connection'],
    ['{method: POST, body: a, headers: {Content-Length: "1"}}', 'headers', 'is set by the probe if there is a body'],
    ['{method: POST, body: a, headers: {Expect: 100-continue}}', 'headers', 'sends at once'],
    ['headers: {User-Agent: "a\\nb"}', 'headers', 'is not valid'],
    [`headers: {${Array.from({ length: 65 }, (_, index) => `X-${index}: a`).join(', ')}}`, 'headers', 'more than 64'],
  ])('is refused by name and line: %s', (options, option, reason) => {
    expect(parse(options).refused.get('m')).toMatchObject([
      { line: 5, option: `http.${option}`, reason: expect.stringContaining(reason) },
    ]);
  });
});
