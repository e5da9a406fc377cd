import { isCutOff } from '../cut-off.ts';
import { ofType, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { asText, countryName, listed, safeText, unique } from '../words.ts';

/** Address (unless it is the host itself), network and place; only the addresses if several were looked up. */
export function lookedUpText(host: string, up: readonly ProbeResult[]): string {
  const results = ofType<'info'>(up).map(({ result }) => result);
  const addresses = unique(results.flatMap(({ ip }) => ip ?? []));
  const first: SparseResultOf<'info'> = results[0] ?? {};
  const part = partOfAddresses(addresses, up);
  if (addresses.length !== 1) return `${listed(addresses.map((address) => safeText(address)))}${part}`;
  const { asn, asName, city, countryCode } = first;
  const place = [city, typeof countryCode === 'string' ? countryName(countryCode) : null].filter(
    (part) => typeof part === 'string',
  );
  const facts = [asText(asn, asName), ...place.map((part) => safeText(part, 60))].filter((part) => part !== undefined);
  if (addresses[0] === host && facts.length === 0) return 'in no network or place that the geo data has';
  const isNews = addresses[0] !== host;
  return [...(isNews ? [`${safeText(addresses[0]!)}${part}`] : []), ...facts].join(', ');
}

/** ` (one of its 2 addresses)`, if the name has addresses that were not looked up. */
function partOfAddresses(lookedUp: readonly string[], up: readonly ProbeResult[]): string {
  const all = unique([...lookedUp, ...ofType<'info'>(up).flatMap(({ result }) => result.addresses ?? [])]);
  if (all.length === lookedUp.length) return '';
  const count = `${all.length}${up.some(isCutOff) ? ' or more' : ''} addresses`;
  return ` (${lookedUp.length === 1 ? 'one' : lookedUp.length} of its ${count})`;
}
