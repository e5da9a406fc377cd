import { additionsOf, type Cities } from './cities.ts';
import { normalisePlace, placeKey } from './normalise.ts';
import type { PlaceData } from './place-data.ts';

/** Common names that differ from CLDR's English ones or are missing there. */
const NAMES = `
DE-BY|Bayern; DE-HE|Hessen; DE-MV|Mecklenburg-Vorpommern; DE-NI|Niedersachsen; DE-NW|Nordrhein-Westfalen|NRW
DE-RP|Rheinland-Pfalz; DE-SN|Sachsen; DE-ST|Sachsen-Anhalt; DE-TH|Thüringen; AT-2|Kärnten; AT-3|Niederösterreich
AT-4|Oberösterreich; AT-6|Steiermark; AT-7|Tirol; AT-9|Wien; CH-BE|Berne; CH-FR|Freiburg; CH-GE|Genf|Genève
CH-GR|Graubünden|Grisons; CH-LU|Luzern|Lucerne; CH-NE|Neuenburg; CH-TI|Tessin; CH-VD|Waadt; CH-VS|Wallis
CA-BC|Colombie-Britannique; CA-NB|Nouveau-Brunswick; CA-NS|Nouvelle-Écosse; CA-PE|Île-du-Prince-Édouard|PEI
ES-AN|Andalucía; ES-AR|Aragón; ES-CT|Cataluña|Catalunya; ES-PV|País Vasco|Euskadi; IT-21|Piemonte; IT-25|Lombardia
IT-52|Toscana; IT-82|Sicilia; IT-88|Sardegna; FR-20R|Corse; FR-ARA|Auvergne-Rhône-Alpes; FR-BFC|Bourgogne-Franche-Comté
FR-BRE|Bretagne; FR-CVL|Centre-Val de Loire; FR-GES|Grand Est; FR-HDF|Hauts-de-France; FR-IDF|Île-de-France
FR-NAQ|Nouvelle-Aquitaine; FR-NOR|Normandie; FR-OCC|Occitanie; FR-PAC|Provence-Alpes-Côte d'Azur; FR-PDL|Pays de la Loire
`;

const CODE = /^[A-Z]{2}-[A-Z0-9]{1,3}$/;

/** States and provinces by ISO 3166-2. */
export interface States {
  /** The codes that a name, or a code such as `US-CA` or `us ca`, may denote. */
  readonly named: (term: string) => readonly string[];
  /** Returns a function: true for a city of the state; undefined if the cities of the state are not known. */
  readonly inState: (code: string) => ((city: string) => boolean) | undefined;
}

export function createStates(
  { keysOf }: Pick<Cities, 'keysOf'>,
  data: Pick<PlaceData, 'states' | 'stateCities'>,
): States {
  const text = `\n${data.states}\n`;
  const own = new Map<string, string[]>();
  for (const entry of NAMES.split(/[;\n]/)) {
    const [code = '', ...names] = entry.trim().split('|');
    for (const key of names.flatMap(stateKeys)) own.set(key, [...(own.get(key) ?? []), code]);
  }
  const codesOf = (key: string): readonly string[] => [...codesIn(text, key), ...(own.get(key) ?? [])];
  const named: States['named'] = (term) => {
    const code = normalisePlace(term).replace(' ', '-').toUpperCase();
    const isCode = CODE.test(code) && text.includes(`\n${code}|`);
    return [...new Set([...(isCode ? [code] : []), ...stateKeys(term).flatMap(codesOf)])];
  };
  /** The states that a city's record names: Oregon has the largest Portland, not "Portland, ME". */
  const writtenIn = (city: string, country: string): readonly string[] => {
    const found = additionsOf(city).map((addition) =>
      [addition, `${country} ${placeKey(addition)}`].flatMap(named).filter((code) => code.startsWith(`${country}-`)),
    );
    return found.find((codes) => codes.length > 0) ?? [];
  };
  return {
    named,
    inState: (code) => {
      if (!Object.hasOwn(data.stateCities, code)) return undefined;
      const keys = new Set(data.stateCities[code]!.split('\n'));
      return (city) => {
        const written = writtenIn(city, code.slice(0, 2));
        return written.length > 0 ? written.includes(code) : keysOf(city).some((key) => keys.has(key));
      };
    },
  };
}

/** Searches the text at each call, which is rare and fast enough; a table would take memory. */
function codesIn(text: string, key: string): readonly string[] {
  const codes: string[] = [];
  for (let at = text.indexOf(`|${key}`); at !== -1; at = text.indexOf(`|${key}`, at + 1)) {
    const end = text[at + 1 + key.length];
    const line = text.lastIndexOf('\n', at) + 1;
    if (end === '|' || end === '\n') codes.push(text.slice(line, text.indexOf('|', line)));
  }
  return codes;
}

/** Keys of a name with and without "state", "province" and the like; with umlauts as one letter, and as two. */
export function stateKeys(name: string): readonly string[] {
  const short = name.replace(
    /^(?:state|province|region) of | (?:state|province|prefecture|region|oblast|voivodeship)$/i,
    '',
  );
  const twoLetters = (text: string): string =>
    text
      .normalize('NFC')
      .toLowerCase()
      .replaceAll(/[äöü]/g, (letter) => ({ ä: 'ae', ö: 'oe' })[letter] ?? 'ue');
  return [...new Set([name, short].flatMap((text) => [placeKey(text), placeKey(twoLetters(text))]))].filter(
    (key) => key !== '',
  );
}
