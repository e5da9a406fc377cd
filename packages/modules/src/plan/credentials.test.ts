import { describe, expect, it } from '@jest/globals';

import { parseModules } from '../parse-modules.ts';
import { checkRequest } from '../request/check-request.ts';
import { describeModule } from './describe-module.ts';

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

/** Only the file `f` exists, and contains a secret. */
function readText(path: string): string {
  if (path === 'f') return ' s3cret\n';
  throw new Error('the file cannot be read (ENOENT)');
}

/** Parses an http module with these options. */
function parse(options: string) {
  const parsing = parseModules(`modules:\n  m:\n    prober: http\n    http:\n      ${options}\n`, { readText });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing;
}

describe('the credentials of a module', () => {
  it.each([
    ['a password', 'basic_auth: {username: u, password: p}', basic('u:p')],
    ['a password in a file', 'basic_auth: {username: u, password_file: f}', basic('u:s3cret')],
    ['a token', 'bearer_token: t', 'Bearer t'],
    ['a token in a file', 'bearer_token_file: f', 'Bearer s3cret'],
    ['credentials in a file', 'authorization: {credentials_file: f}', 'Bearer s3cret'],
    ['credentials of another type in a file', 'authorization: {type: Token, credentials_file: f}', 'Token s3cret'],
  ])('are sent: %s', (_what, options, Authorization) => {
    expect(parse(options).usable.get('m')).toMatchObject({ headers: { Authorization } });
  });

  it.each([
    ['basic_auth: {username: u, password_file: g}', 'http.basic_auth.password_file'],
    ['bearer_token_file: g', 'http.bearer_token_file'],
    ['authorization: {credentials_file: g}', 'http.authorization.credentials_file'],
  ])('in a file that cannot be read are a refusal: %s', (options, option) => {
    const reason = 'the file cannot be read (ENOENT)';
    expect(parse(options).refused.get('m')).toEqual([{ module: 'm', line: 5, option, reason }]);
  });
});

describe('the credentials of a client for a token', () => {
  const grant = (more: string): string => `oauth2: {client_id: c, token_url: "https://a.example/token", ${more}}`;

  it('are taken from the module or a file, and are not shown', () => {
    const text = grant('client_secret_file: f, scopes: [a, b], endpoint_params: {password: hidden-too}');
    const module = parse(text).usable.get('m')!;

    expect(module).toMatchObject({
      oauth2: {
        tokenUrl: 'https://a.example/token',
        clientId: 'c',
        clientSecret: 's3cret',
        scopes: ['a', 'b'],
        parameters: { password: 'hidden-too' },
      },
    });
    expect(describeModule(module)).not.toMatch(/s3cret|hidden-too/);
    const { rules } = checkRequest(module, 'a.example', 5_000) as { readonly rules: object };
    // An agent of an earlier release refuses rules without `body`; it would measure without the credentials.
    expect(Object.keys(rules)).toEqual(['expressions', 'request']);
  });

  it.each([
    [grant('client_secret_file: g'), 'client_secret_file', 'the file cannot be read (ENOENT)'],
    [grant('client_secret: s, proxy_url: "http://a"'), 'proxy_url', 'probes use no proxy'],
    ['oauth2: {client_id: c, client_secret: s, token_url: "ftp://a"}', 'token_url', 'must be an http(s) URL'],
    ['oauth2: {client_id: c, client_secret: s, token_url: "http://u:p@a"}', 'token_url', 'without a login'],
    [grant(`client_secret: ${'s'.repeat(2_049)}`), 'client_secret', 'more than 2048 characters'],
    [grant(`client_secret: s, scopes: [${'a,'.repeat(33)}]`), 'scopes', 'more than 32 entries'],
    [grant('client_secret: s, tls_config: {ca_file: g}'), 'tls_config.ca_file', 'cannot be read'],
  ])('that cannot be used are a refusal with its line: %s', (options, option, reason) => {
    expect(parse(options).refused.get('m')).toMatchObject([
      { line: 5, option: `http.oauth2.${option}`, reason: expect.stringContaining(reason) },
    ]);
  });
});
