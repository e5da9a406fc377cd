import { afterAll, describe, expect, it } from '@jest/globals';
import { certificateMint } from '@vantage/test-support/certificate-mint';

import { parseModules } from '../parse-modules.ts';
import { checkRequest } from '../request/check-request.ts';
import { describeModule } from './describe-module.ts';

const mint = certificateMint();
const [one, other] = [mint.issue({ subject: '/CN=one' }), mint.issue({ subject: '/CN=other' })];
afterAll(() => mint.close());

const files: Readonly<Record<string, string>> = {
  cert: one.cert,
  key: one.key,
  otherKey: other.key,
  text: 'no PEM',
  long: `${one.cert}${' '.repeat(32_768)}`,
};

function readText(path: string): string {
  if (files[path] === undefined) throw new Error('the file cannot be read (ENOENT)');
  return files[path];
}

/** Parses a file with one module `m` that has these options in its `tls_config`. */
function parse(prober: 'http' | 'tcp', options: string) {
  const text = `modules:\n  m:\n    prober: ${prober}\n    ${prober}:\n      tls_config: {${options}}\n`;
  const parsing = parseModules(text, { readText });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing;
}

describe.each(['http', 'tcp'] as const)('a certificate of the client in a module of %s', (prober) => {
  it('is read from its files, and the key is not shown', () => {
    const module = parse(prober, 'cert_file: cert, key_file: key').usable.get('m')!;
    expect(module).toMatchObject({ tlsOptions: { identity: { cert: one.cert, key: one.key } } });
    expect(describeModule(module)).toContain('key: <secret>');
    expect(describeModule(module)).not.toContain('PRIVATE');
  });

  it.each([
    ['cert_file: cert', 'cert_file', 'needs key_file'],
    ['key_file: key', 'key_file', 'needs cert_file'],
    ['cert_file: cert, key_file: none', 'key_file', 'cannot be read (ENOENT)'],
    ['cert_file: text, key_file: key', 'cert_file', 'has no certificate in PEM'],
    ['cert_file: cert, key_file: text', 'key_file', 'has no private key in PEM'],
    ['cert_file: cert, key_file: otherKey', 'key_file', 'is not the key of the certificate'],
    ['cert_file: long, key_file: key', 'cert_file', 'has more than 32768 characters'],
  ])('is refused by name and line: %s', (options, option, reason) => {
    expect(parse(prober, options).refused.get('m')).toMatchObject([
      { line: 5, option: `${prober}.tls_config.${option}`, reason: expect.stringContaining(reason) },
    ]);
  });
});

describe('a module of http', () => {
  it('is run by agents of earlier releases if it needs no more than they do', () => {
    const rules = (options: string): unknown => {
      const request = checkRequest(parse('http', options).usable.get('m')!, 'example.com', 5_000);
      return request.ok ? request.rules : undefined;
    };
    expect(rules('insecure_skip_verify: true')).toMatchObject({ body: [], request: { timeoutMs: 5_000 } });
    // An agent of an earlier release refuses rules without `body`; it would ignore these options.
    expect(rules('min_version: TLS13')).not.toHaveProperty('body');
    expect(rules('cert_file: cert, key_file: key')).not.toHaveProperty('body');
  });
});
