import { normalisePlace, placeKey } from './normalise.ts';
import type { PlaceData } from './place-data.ts';

/** Common names in addition to those in the data, with all meanings of ambiguous ones. */
const ALIASES: Readonly<Record<string, string>> = {
  AE: 'UAE|Emirates',
  AR: 'Argentine Republic',
  BA: 'Bosnia|Bosnia Herzegovina',
  BN: 'Brunei',
  CD: 'DRC|DR Congo|Congo|Democratic Republic of Congo|Zaire',
  CG: 'Congo|Republic of Congo|Congo Republic',
  CH: 'Swiss Confederation',
  CN: 'Mainland China|PRC|Peoples Republic of China',
  CV: 'Cabo Verde',
  ER: 'State of Eritrea',
  FK: 'Falklands|Malvinas',
  FM: 'Federated States of Micronesia',
  FR: 'French Republic',
  GA: 'Gabonese Republic',
  GB: 'UK|Britain|Great Britain|United Kingdom of Great Britain and Northern Ireland',
  GR: 'Hellenic Republic',
  HK: 'Hong Kong SAR|Hong Kong Special Administrative Region of the Peoples Republic of China',
  IE: 'Eire',
  IL: 'State of Israel',
  IT: 'Italian Republic',
  KG: 'Kyrgyz Republic|Kirghizia',
  KP: 'Korea|DPRK|Democratic Peoples Republic of Korea',
  KR: 'Korea',
  KW: 'State of Kuwait',
  KZ: 'Kasakhstan',
  LB: 'Lebanese Republic',
  LY: 'State of Libya',
  MF: 'Saint Martin|St Martin French part',
  MK: 'Macedonia|FYROM',
  MM: 'Union of Myanmar|Republic of the Union of Myanmar',
  MO: 'Macau|Macao SAR|Macau SAR|Macao Special Administrative Region of the Peoples Republic of China',
  MX: 'United Mexican States',
  NL: 'Holland',
  PT: 'Portuguese Republic',
  QA: 'State of Qatar',
  SK: 'Slovak Republic',
  SX: 'Saint Martin|St Maarten',
  SZ: 'Swaziland',
  TG: 'Togolese Republic',
  TL: 'East Timor',
  TN: 'Tunisian Republic',
  TW: 'Republic of China|Chinese Taipei',
  US: 'USA|US|United States of America',
  VA: 'Vatican|Holy See',
  VG: 'Virgin Islands|BVI',
  VI: 'Virgin Islands|USVI|US Virgin Islands|United States Virgin Islands',
  YE: 'Yemeni Republic',
};

/** Prefixes of official names, as in "Federal Republic of Germany". Tried after all complete names. */
const OFFICIAL =
  /^(?:(?!of )[a-z]+ )*(?:republic|kingdom|commonwealth|principality|sultanate|federation|duchy|union|territory|bailiwick|(?:plurinational|independent) state) of (?:the )?(.+)$/;

export interface Countries {
  /** Countries (alpha-2) that a name in English or the country's language may denote. */
  readonly named: (name: string) => readonly string[];
  /** The country with an alpha-3 code in upper case. */
  readonly ofAlpha3: (code: string) => string | undefined;
  /** All names with their keys, except those in the countries' own languages. */
  readonly names: readonly (readonly [key: string, name: string])[];
}

export function createCountries(data: Pick<PlaceData, 'countries'>): Countries {
  const english = new Map<string, string[]>();
  const own = new Map<string, string[]>();
  const alpha3 = new Map<string, string>();
  const names: (readonly [string, string])[] = [];
  for (const line of data.countries.split('\n')) {
    const [code = '', code3 = '', ...written] = line.split('|');
    if (code3 !== '') alpha3.set(code3, code);
    for (const name of [...written.slice(0, -1), ...(ALIASES[code]?.split('|') ?? [])]) {
      for (const form of formsOf(name)) {
        note(english, form, code);
        names.push([placeKey(form), form]);
      }
    }
    for (const form of formsOf(written.at(-1) ?? '')) note(own, form, code);
  }
  const lookUp = (name: string): readonly string[] => english.get(placeKey(name)) ?? own.get(placeKey(name)) ?? [];
  return {
    names,
    ofAlpha3: (code) => alpha3.get(code),
    named: (name) => {
      const exact = formsOf(name).flatMap(lookUp);
      const rest = exact.length > 0 ? undefined : OFFICIAL.exec(normalisePlace(name))?.[1];
      return [...new Set(rest === undefined ? exact : lookUp(rest))];
    },
  };
}

function note(names: Map<string, string[]>, name: string, code: string): void {
  const codes = names.get(placeKey(name)) ?? [];
  if (!codes.includes(code)) names.set(placeKey(name), [...codes, code]);
}

/** Variants: "Myanmar (Burma)" is two names; "Korea, Republic of" is also "Republic of Korea"; "&" is "and". */
function formsOf(name: string): readonly string[] {
  const text = name.replaceAll('&', ' and ');
  const [, before, inside] = /^(.+?) \((.+)\)$/.exec(text) ?? [];
  const [, base, prefix] = /^([^,]+), (.+)$/.exec(text) ?? [];
  return [text, before, inside, prefix === undefined ? undefined : `${prefix} ${base}`].filter(
    (form) => form !== undefined && placeKey(form) !== '',
  ) as string[];
}
