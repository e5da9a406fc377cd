import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packagesMissing, unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { corpus } from '../test/corpus.ts';
import { refusedTexts } from '../test/odd-texts.ts';
import { DEFAULT_MODULES, parseModules } from './parse-modules.ts';

const EXPORTER = ['prometheus-blackbox-exporter'];
const missing = await packagesMissing(EXPORTER);
const itWithExporter = itNeeding(missing, process.env['CI']);

let folder: string;
let exporter: UnpackedPackages;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-modules-'));
  if (missing === null) exporter = await unpackPackages(...EXPORTER);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Asks blackbox_exporter whether it accepts a file; returns its message too. */
function askExporter(text: string): { readonly accepted: boolean; readonly message: string } {
  const path = join(folder, 'blackbox.yml');
  writeFileSync(path, text);
  const { status, stderr } = spawnSync(
    exporter.program('prometheus-blackbox-exporter'),
    ['--config.check', `--config.file=${path}`],
    { env: exporter.environment, encoding: 'utf8' },
  );
  return { accepted: status === 0, message: stderr };
}

describe('a file of modules', () => {
  itWithExporter('is accepted exactly if blackbox_exporter accepts it', async () => {
    const differing = corpus.flatMap(({ name, text }) => {
      const { accepted, message } = askExporter(text);
      const parsing = parseModules(text);
      return parsing.ok === accepted ? [] : [{ name, accepted, message, parsing }];
    });
    expect(differing).toEqual([]);
    // The corpus has both valid and invalid files.
    expect(corpus.filter(({ text }) => parseModules(text).ok).length).toBeGreaterThan(40);
    expect(corpus.filter(({ text }) => !parseModules(text).ok).length).toBeGreaterThan(40);
  });

  itWithExporter(
    'is refused for a character that is a line break in YAML 1.1 only, or replaces other bytes',
    async () => {
      const message = 'has a control character, a line separator or bytes that are not UTF-8';
      for (const { name, text } of refusedTexts) {
        expect([name, askExporter(text).accepted]).toEqual([name, true]);
        expect(parseModules(text)).toMatchObject({ ok: false, faults: [{ message }] });
      }
    },
  );

  itWithExporter('is that of Debian’s package, of which the modules with grpc cannot be run', async () => {
    // If the system has the package, it is not unpacked, and its file is below `/`.
    const path = [exporter.folder, '/'].map((root) => join(root, 'etc/prometheus/blackbox.yml')).find(existsSync);
    const text = readFileSync(path!, 'utf8');
    const parsing = parseModules(text);
    expect(parsing.ok).toBe(true);
    if (!parsing.ok) return;
    expect([...parsing.usable.keys()]).toEqual(
      expect.arrayContaining(['http_2xx', 'tcp_connect', 'icmp', 'icmp_ttl5']),
    );
    const lines = text.split('\n');
    for (const refusals of parsing.refused.values()) {
      for (const { line, option } of refusals) expect(lines[line - 1]).toContain(option.split('.').at(-1));
    }
    expect([...parsing.refused.keys()]).toEqual(expect.arrayContaining(['grpc', 'grpc_plain']));
  });

  it('that is refused is so with every fault, each at its line', () => {
    const text = [
      'modules:',
      '  a:',
      '    prober: dns',
      '    timeout: soon',
      '    dns:',
      '      query_class: XX',
      '      query_type: YY',
      '      valid_rcodes: NOERROR',
      '  b:',
      '    prober: http',
      '    http:',
      '      basic_auth: {password: a, password_file: b}',
      '      authorization: {type: Basic}',
      '      proxy_url: "%"',
      '      proxy_connect_header: {a: [b]}',
      '      fail_if_header_matches:',
      '        - {}',
    ].join('\n');

    const parsing = parseModules(text);
    const faults = parsing.ok ? [] : parsing.faults.map(({ line, message }) => `${line} ${message.slice(0, 40)}`);
    expect(faults.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))).toEqual([
      '4 "soon" is not a duration such as 5s',
      '6 query_name is required',
      '6 unknown query_class "XX"',
      '7 unknown query_type "YY"',
      '8 must be a list',
      '12 at most one of password and password_fil',
      '13 at most one of basic_auth, authorization',
      '13 authorization cannot have the type "basi',
      '14 "%" is not a URL',
      '17 a header matcher needs header',
      '17 a header matcher needs regexp',
    ]);
  });

  it('names the line of an expression about records that is none', () => {
    const text =
      'modules:\n  m:\n    prober: dns\n    dns:\n      query_name: a.\n      query_type: A\n      validate_answer_rrs:\n        fail_if_matches_regexp: ["("]\n';
    const parsing = parseModules(text);
    expect(parsing.ok && parsing.refused.get('m')).toMatchObject([
      {
        line: 8,
        option: 'dns.validate_answer_rrs.fail_if_matches_regexp',
        reason: expect.stringContaining('missing closing )'),
      },
    ]);
  });

  it.each([
    [
      'two handshakes',
      'tls: true\n      query_response: [{starttls: true}]',
      6,
      'tcp.query_response',
      'where there is TLS',
    ],
    ['many entries', `query_response: [${'{},'.repeat(33)}]`, 5, 'tcp.query_response', 'more than 32 entries'],
    ['a long line', `query_response: [{send: ${'a'.repeat(1_025)}}]`, 5, 'tcp.query_response.send', 'more than 1024'],
    ['no version', 'tls_config: {max_version: TLS11}', 5, 'tcp.tls_config.max_version', 'the lowest is TLSv1.2'],
    ['a key without a certificate', 'tls_config: {key_file: a.key}', 5, 'tcp.tls_config.key_file', 'needs cert_file'],
    ['a certificate without a key', 'tls_config: {cert_file: a}', 5, 'tcp.tls_config.cert_file', 'needs key_file'],
    ['a file that is not read', 'tls_config: {ca_file: a.pem}', 5, 'tcp.tls_config.ca_file', 'a.pem is not read'],
  ])('names the line of an option that cannot be run: %s', (_what, options, line, option, reason) => {
    const parsing = parseModules(`modules:\n  m:\n    prober: tcp\n    tcp:\n      ${options}\n`);
    expect(parsing.ok && parsing.refused.get('m')).toMatchObject([
      { line, option, reason: expect.stringContaining(reason) },
    ]);
  });

  itWithExporter('is not needed: the default modules are a file that both accept', async () => {
    const parsing = parseModules(DEFAULT_MODULES);
    expect(askExporter(DEFAULT_MODULES).accepted).toBe(true);
    expect(parsing).toMatchObject({ ok: true, refused: new Map() });
  });
});
