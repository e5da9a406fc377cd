import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { VariableKind } from './kinds.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** Path of a file with certificates, read at startup; the value is its content. */
export const certificateFile: VariableKind<string> = {
  name: 'PEM file',
  parse: (value) => {
    let content: string;
    try {
      content = readFileSync(value, 'utf8');
    } catch (error) {
      throw new Error('names a file that cannot be read', { cause: error });
    }
    if (!content.includes(BEGIN)) throw new Error('names a file with no certificate in it');
    return content;
  },
};

/**
 * Certificates in the variable itself: PEM, or the base64 bodies of PEM blocks on one line, comma-separated, for
 * environment files without line breaks. The value is PEM.
 */
export const certificateText: VariableKind<string> = {
  name: 'certificates, base64 in one line or PEM',
  parse: (value) => {
    const pem = value.includes(BEGIN) ? value : value.split(',').map(inLines).join('');
    try {
      const each = pem.match(new RegExp(`${BEGIN}[^-]+${END}`, 'g')) ?? [''];
      return each.map((one) => new X509Certificate(one).toString()).join('');
    } catch (error) {
      throw new Error('must be certificates, as PEM or as its base64 in one line', { cause: error });
    }
  },
};

function inLines(base64: string): string {
  return [BEGIN, ...(base64.trim().match(/.{1,64}/g) ?? []), END, ''].join('\n');
}
