import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Contents of `data/place-names.json`: the places that `locations` knows. `infra/places/write-places.ts` writes it. */
export interface PlaceData {
  /** Per line: alpha-2, alpha-3 and names, divided by bars; the last name is in the country's own language. */
  readonly countries: string;
  /**
   * Per line the name of a city of 15000 people or more and the keys to look for, the largest first. Namesakes share
   * the line of the largest.
   */
  readonly cities: string;
  /** The keys of the names of one city, per line. */
  readonly cityNames: string;
  /** Per line the code of a state or province (ISO 3166-2) and its keys. */
  readonly states: string;
  /** City keys by state code, for the countries whose states are known. */
  readonly stateCities: Readonly<Record<string, string>>;
  /** The keys of places of the United Kingdom, by nation. */
  readonly ukNations: Readonly<Record<string, string>>;
}

/** Reads the file. Not a JSON module: its source text would stay in memory as well. */
export function readPlaceData(): PlaceData {
  const manifest = createRequire(import.meta.url).resolve('@vantage/coordinator/package.json');
  return JSON.parse(readFileSync(join(dirname(manifest), 'data/place-names.json'), 'utf8')) as PlaceData;
}
