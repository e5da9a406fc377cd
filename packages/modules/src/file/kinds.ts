import { RE2JS } from 're2js';

import { scalar } from './decode.ts';
import { isGoUrl } from './go-url.ts';

/** Text. The scalar kinds follow gopkg.in/yaml.v3, with which blackbox_exporter decodes its file. */
export const string = scalar((text) => {
  if (!text.isWellFormed()) throw new Error('has half of a character');
  return text;
});

const YES = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']);
const NO = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']);

export const bool = scalar((text, value) => {
  if (typeof value === 'boolean') return value;
  if (YES.has(text)) return true;
  if (NO.has(text)) return false;
  throw new Error('must be true or false');
});

/** An integer of 64 bits; a fraction is cut off, as in yaml.v3. YAML 1.1 permits underscores between digits. */
export const goInteger = scalar((text, value, isPlain) => {
  const number =
    isPlain && typeof value === 'string' && /^[-+]?\d[\d_]*$/.test(text) ? Number(text.replaceAll('_', '')) : value;
  if (typeof number !== 'number' || !(Math.abs(number) <= 2 ** 63)) throw new Error('must be an integer');
  return Math.trunc(number);
});

const DURATION = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** A duration in the notation of Go, as milliseconds. */
export const duration = scalar((text, value) => {
  if (typeof value !== 'string') throw new Error('must be a duration such as 5s');
  if (/^[-+]?0$/.test(text)) return 0;
  if (!DURATION.test(text)) throw new Error(`"${text}" is not a duration such as 5s`);
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)([^\d.]+)/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  // Go counts nanoseconds in 64 bits.
  if (total * 1e6 >= 2 ** 63) throw new Error(`"${text}" is longer than 292 years`);
  return text.startsWith('-') ? -total : total;
});

/** A regular expression in the syntax of RE2, as text. */
export const regexp = scalar((text) => {
  const fault = regexpFault(text);
  if (fault !== undefined) throw new Error(fault);
  return text;
});

/** Why a text is not a valid RE2 expression; undefined if it is. */
export function regexpFault(text: string): string | undefined {
  try {
    RE2JS.compile(text);
    return undefined;
  } catch (error) {
    return Error.isError(error) ? error.message : String(error);
  }
}

const BYTE_UNITS: Readonly<Record<string, number>> = Object.fromEntries(
  ['', 'K', 'M', 'G', 'T', 'P', 'E'].flatMap((prefix, power) => [
    [`${prefix}B`, 1024 ** power],
    ...(prefix === '' ? [] : [[`${prefix}iB`, 1024 ** power] as const]),
  ]),
);

/** A size in bytes with binary units: `512KiB`; `10MB` is 10 MiB too, as in blackbox_exporter. */
export const bytes = scalar((text) => {
  if (/^[-+]?0$/.test(text)) return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)([A-Za-z]+)/g)];
  const isWhole = /^[-+]?$/.test(text.replaceAll(/(\d+(?:\.\d*)?|\.\d+)[A-Za-z]+/g, ''));
  const units = new Set(parts.map(([, , unit]) => unit!));
  const isKnown = [...units].every((unit) => Object.hasOwn(BYTE_UNITS, unit));
  const isMixed = [...units].some((unit) => unit.includes('i')) && [...units].some((unit) => /^[KMGTPE]B$/.test(unit));
  if (parts.length === 0 || !isWhole || !isKnown || isMixed) {
    throw new Error(`"${text}" is not a number of bytes with a unit, such as 10MB`);
  }
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * BYTE_UNITS[unit!]!, 0);
  return Math.trunc(text.startsWith('-') ? -total : total);
});

export const tlsVersion = scalar((text) => {
  if (!['TLS10', 'TLS11', 'TLS12', 'TLS13'].includes(text)) throw new Error(`unknown TLS version "${text}"`);
  return text;
});

/** A URL as accepted by Go's `net/url`. */
export const goUrl = scalar((text) => {
  if (!isGoUrl(text)) throw new Error(`"${text}" is not a URL`);
  return text;
});
