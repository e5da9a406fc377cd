/** Formatting of numbers, times and names. */

/** Milliseconds with about three significant digits: `0.42 ms`, `12.3 ms`, `1.24 s`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms >= 999.5) return `${(ms / 1000).toFixed(ms >= 9995 ? 1 : 2)} s`;
  return `${ms.toFixed(ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : 2)} ms`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 1 ? value.toFixed(1) : Math.round(value)} %`;
}

export function byteCount(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Created once, because creating a format is slow. */
let clock: Intl.DateTimeFormat | undefined;

/** Date and time of day in the user's time zone, which it names: sentences of the service have times in UTC. */
export function clockTime(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '–';
  clock ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  return clock.format(new Date(iso));
}

export function day(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return '–';
  return new Date(iso).toLocaleDateString(undefined, { dateStyle: 'medium' });
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/**
 * Formats an age, such as `5 minutes ago`. An age below five seconds is `just now`, and so is a future time, as of a
 * browser whose clock is behind.
 */
export function ago(iso: string, now: number): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (seconds < 5) return 'just now';
  const [unit, size] = steps.find(([, size]) => seconds >= size) ?? ['second', 1];
  return new Intl.RelativeTimeFormat('en', { numeric: 'always' }).format(-Math.round(seconds / size), unit);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(['dnssec', 'dscp', 'http', 'nsid', 'ssl', 'ttl']);

/** `followRedirects` becomes `Follow redirects`. */
export function labelOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(' ')
    .map((word) => (/^[A-Z0-9]{2,}$/.test(word) ? word : word.toLowerCase()));
  const text = words.map((word) => (ABBREVIATIONS.has(word) ? word.toUpperCase() : word)).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

let regions: Intl.DisplayNames | undefined;

/** User-assigned codes of ISO 3166-1, for some of which browsers have names. XK (Kosovo) is excluded. */
const OWN_CODE = /^(?:AA|Q[M-Z]|X(?!K)[A-Z]|ZZ)$/;

/** English name of a country or region; null for a user-assigned code, and without a name. */
export function countryName(code: string | null | undefined): string | null {
  if (code === null || code === undefined || OWN_CODE.test(code)) return null;
  try {
    regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    return regions.of(code) ?? null;
  } catch {
    return null;
  }
}

/** City and country of a probe as far as known, else its datacenter. */
export function placeOf(probe: {
  readonly city: string | null;
  readonly countryCode: string;
  readonly datacenter: string;
}): string {
  const parts = [probe.city, countryName(probe.countryCode)].filter((part) => part !== null);
  return parts.length === 0 ? probe.datacenter : parts.join(', ');
}

const collator = new Intl.Collator('en', { numeric: true });

/** Compares ids and names for sorting: `a-2` before `a-10`. */
export function compareNames(one: string, other: string): number {
  return collator.compare(one, other);
}
