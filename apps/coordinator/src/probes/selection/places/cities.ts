import { placeKey } from './normalise.ts';
import type { PlaceData } from './place-data.ts';

/** Common names of cities, in addition to those in the data; the names of one city are divided by bars. */
const NAMES = `
Aachen|Aix-la-Chapelle; Antwerp|Antwerpen|Anvers; Basel|Basle|Bâle; Bengaluru|Bangalore; Bern|Berne; Bolzano|Bozen
Braunschweig|Brunswick; Bruges|Brugge; Chennai|Madras; Cologne|Köln; Florence|Firenze; Gdańsk|Danzig
Geneva|Genève|Genf; Genoa|Genova; Ghent|Gent|Gand; Gothenburg|Göteborg; Guangzhou|Canton; Hanover|Hannover
Ho Chi Minh City|Saigon; Kharkiv|Kharkov; Kraków|Cracow; Leuven|Louvain; Liège|Luik; Lviv|Lvov; Lyon|Lyons
Marseille|Marseilles; Milan|Milano; Mumbai|Bombay; Munich|München; Naples|Napoli; Nuremberg|Nürnberg; Odesa|Odessa
Padua|Padova; Pune|Poona; Saint Petersburg|Petersburg|Sankt Peterburg; Seville|Sevilla; Strasbourg|Straßburg
The Hague|Den Haag|'s-Gravenhage; Turin|Torino; Venice|Venezia; Washington|Washington DC; Wrocław|Breslau
New York|New York City|NYC; Bangkok|Krung Thep; Beijing|Peking; Mexico City|Ciudad de México|CDMX; Kyiv|Kiev
Yangon|Rangoon; Tokyo|Tokio|東京都; Osaka|大阪; Kyoto|京都; Busan|부산; Shenzhen|深圳; Guangzhou|广州; Beijing|北京
Saint Petersburg|Санкт-Петербург; Thessaloniki|Θεσσαλονίκη; Tel Aviv|תל אביב; Delhi|दिल्ली; Mumbai|मुंबई; Taipei|臺北
Jeddah|جدة; Haifa|חיפה; Kharkiv|Харків|Харьков; Lviv|Львів; Odesa|Одеса|Одесса; Kolkata|Calcutta; Luxembourg|Luxembourg City|Luxemburg; Los Angeles|LA; Rio de Janeiro|Rio
`;

/** Additions to a name: "Frankfurt am Main", "Newcastle upon Tyne", "Washington, D.C.", "Biel/Bienne". */
const ADDITION =
  /[,(/].*$| (?:am|an der|an|bei|im|in|ob|upon|on|under|sur|sous|de|del|di|do|da|du|nad|pod|na)[ -].*$|(?<= \S+) city$|(?<= \S+)-\S+$/i;

export interface Cities {
  /** Returns a function: true for a city that the term names. */
  readonly isNameOf: (term: string) => (city: string) => boolean;
  /** Whether a term names one of the world's larger cities. */
  readonly isKnown: (term: string) => boolean;
  /**
   * Returns a function: true for a city in England, Scotland, Wales or Northern Ireland; undefined for any other name.
   */
  readonly inNation: (nation: string) => ((city: string) => boolean) | undefined;
  /** Search keys of a city's names. */
  readonly keysOf: (city: string) => readonly string[];
  /** All names with their keys, largest city first; computed on each call, to save memory. */
  readonly names: () => Iterable<readonly [key: string, name: string]>;
}

/** Keys with and without the addition to the name. */
interface CityKeys {
  readonly whole: readonly string[];
  readonly all: readonly string[];
}

/** Limit of cached cities: records that change repeatedly would add entries without bound. */
const MAX_KEPT = 5_000;

export function createCities(data: Pick<PlaceData, 'cities' | 'cityNames' | 'ukNations'>): Cities {
  const kept = new Map<string, CityKeys>();
  const keysOf = (city: string): CityKeys => {
    const keys = kept.get(city) ?? { whole: spellings(city), all: cityKeys(city) };
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(city, keys);
    return keys;
  };
  const groups = new Map<string, readonly string[]>();
  const lists = [
    ...data.cityNames.split('\n').map((line) => line.split('|')),
    ...NAMES.split(/[;\n]/).map((line) => line.split('|').flatMap(spellings)),
  ];
  for (const list of lists) {
    for (const key of list.filter((name) => name !== '')) {
      const others = groups.get(key);
      groups.set(key, others === undefined ? list : [...others, ...list]);
    }
  }
  const nations = new Map(
    Object.entries(data.ukNations).map(([nation, list]) => [placeKey(nation), new Set(list.split('\n'))]),
  );
  return {
    names: () => cityNames(data.cities),
    keysOf: (city) => keysOf(city).all.flatMap((key) => [key, ...(groups.get(key) ?? [])]),
    isKnown: (term) => spellings(term).some((key) => groups.has(key) || isCity(data.cities, key)),
    isNameOf: (term) => {
      const whole = new Set(spellings(term).flatMap((key) => [key, ...(groups.get(key) ?? [])]));
      const short = spellings(withoutAddition(term));
      // At least one of the two names must be complete: otherwise Frankfurt am Main would equal Frankfurt (Oder).
      return (city) => {
        const keys = keysOf(city);
        return keys.all.some((key) => whole.has(key)) || keys.whole.some((key) => short.includes(key));
      };
    },
    inNation: (nation) => {
      const wanted = placeKey(nation);
      const keys = nations.get(wanted);
      if (keys === undefined) return undefined;
      return (city) => {
        const written = additionsOf(city)
          .map(placeKey)
          .find((key) => nations.has(key));
        return written === undefined ? keysOf(city).all.some((key) => keys.has(key)) : written === wanted;
      };
    },
  };
}

function* cityNames(cities: string): Generator<readonly [key: string, name: string]> {
  for (const line of cities.split('\n')) {
    const [name, ...keys] = line.split('|') as [string, ...string[]];
    for (const key of keys) yield [key, name];
  }
}

/** Searches the text of all cities: rarely needed, and fast enough. */
function isCity(cities: string, key: string): boolean {
  for (let at = cities.indexOf(`|${key}`); at !== -1; at = cities.indexOf(`|${key}`, at + 1)) {
    const end = cities[at + 1 + key.length];
    if (end === undefined || end === '|' || end === '\n') return true;
  }
  return false;
}

/** Keys of a city's name, with and without its addition. */
export function cityKeys(name: string): readonly string[] {
  return [...new Set([...spellings(name), ...spellings(withoutAddition(name))])];
}

/**
 * Additions to a name behind commas and in parentheses: the state of "Portland, ME, USA", the river of "Halle (Saale)".
 */
export function additionsOf(name: string): readonly string[] {
  return name
    .split(/[,()]/)
    .slice(1)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function withoutAddition(name: string): string {
  return name.replace(ADDITION, '');
}

/** Spellings with umlauts as one letter, and as two. */
export function spellings(name: string): readonly string[] {
  return [...new Set([placeKey(name), placeKey(withoutUmlauts(name))])].filter((key) => key !== '');
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

function withoutUmlauts(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöüøå]/g, (letter) => UMLAUTS[letter]!);
}
