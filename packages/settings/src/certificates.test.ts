import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

import { describe, expect, it } from '@jest/globals';

import { certificateFile, certificateText } from './certificates.ts';

const [first = '', second = ''] = rootCertificates;
const inOneLine = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '');

describe('certificates in a variable', () => {
  it.each([
    ['one, in one line', inOneLine(first), 1],
    ['two, with a comma between', `${inOneLine(first)},${inOneLine(second)}`, 2],
    ['PEM as it is', `${first}\n${second}\n`, 2],
  ])('are read: %s', (_reason, text, count) => {
    const pem = certificateText.parse(text);

    expect(pem.match(/BEGIN CERTIFICATE/g)).toHaveLength(count);
    expect(inOneLine(pem)).toContain(inOneLine(first));
  });

  it.each([
    ['no base64', 'not a certificate'],
    ['something else', Buffer.from('hello').toString('base64')],
    ['half of one', inOneLine(first).slice(0, 200)],
    ['a second one that is none', `${inOneLine(first)},AAAA`],
  ])('are refused: %s', (_reason, text) => {
    expect(() => certificateText.parse(text)).toThrow(/must be certificates/);
  });
});

describe('certificates in a file', () => {
  it('are what is in it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    writeFileSync(join(folder, 'ca.pem'), first);
    writeFileSync(join(folder, 'other'), 'hello');

    expect(certificateFile.parse(join(folder, 'ca.pem'))).toBe(first);
    expect(() => certificateFile.parse(join(folder, 'other'))).toThrow(/no certificate in it/);
    expect(() => certificateFile.parse(join(folder, 'none'))).toThrow(/cannot be read/);
    rmSync(folder, { recursive: true });
  });
});
