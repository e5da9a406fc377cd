import { HEX_BYTES_PATTERN, NAME_PATTERN } from './formats.ts';
import { AGREEMENT_PATTERN, INTERVAL_PATTERN, STATUS_PATTERN } from './monitors/request.ts';

export const NAME_FORM = '1 to 63 lower-case letters, digits and hyphens, the first no hyphen';
export const INTERVAL_FORM = 'a duration from 10s to 1d, such as 30s or 5m';
export const AGREEMENT_FORM = 'two numbers from 1 to 999, the first not above the second, such as 3 of 5';

const forms: ReadonlyMap<string, string> = new Map([
  [NAME_PATTERN, NAME_FORM],
  [INTERVAL_PATTERN, INTERVAL_FORM],
  [AGREEMENT_PATTERN, AGREEMENT_FORM],
  [STATUS_PATTERN, 'a text with a status code or a class of them, such as "301" or "2xx"'],
  [HEX_BYTES_PATTERN, 'pairs of hexadecimal digits, such as 68656c6c6f'],
]);

/**
 * The form that a pattern of a schema requires, as a continuation of “must be”: messages never contain the pattern
 * itself. Undefined if no form is given for the pattern.
 */
export function textForm(pattern: unknown): string | undefined {
  return typeof pattern === 'string' ? forms.get(pattern) : undefined;
}
