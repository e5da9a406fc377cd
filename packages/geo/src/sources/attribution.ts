/** The attribution of an operator's file: its type, and its owner if known by the type. */
export function attributionOf(databaseType: string): string {
  const owner = OWNERS.find(([pattern]) => pattern.test(databaseType))?.[1];
  return owner === undefined ? databaseType : `${databaseType}, ${owner}`;
}

/** Attributions of the bundled and the fallback data, as their licences require them (NOTICE). */
export const BUNDLED_CITY_ATTRIBUTION = 'IP Geolocation by DB-IP (https://db-ip.com, CC BY 4.0)';
export const BUNDLED_ASN_ATTRIBUTION = 'networks by RouteViews (routeviews.org), NRO (nro.net), DB-IP (CC BY 4.0)';
export const FALLBACK_ATTRIBUTION = 'GeoLite2 data of 2019 by MaxMind (https://www.maxmind.com, CC BY-SA 4.0)';

const OWNERS: readonly (readonly [pattern: RegExp, owner: string])[] = [
  [/^(?:GeoLite|GeoIP)/i, 'MaxMind (https://www.maxmind.com)'],
  [/^DB-?IP/i, 'IP Geolocation by DB-IP (https://db-ip.com)'],
  [/^ipinfo/i, 'IPinfo (https://ipinfo.io)'],
];
