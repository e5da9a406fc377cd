import { describe, expect, it } from '@jest/globals';

import { parseModules } from '../parse-modules.ts';

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
