/**
 * Countries and territories (ISO 3166-1 alpha-2, and XK) by continent, as in the UN geoscheme, with two exceptions: TW
 * and XK are added, and islands in the Southern and the Indian Ocean (BV, GS, HM, IO) are here in Antarctica and Asia.
 */
const countries = {
  africa:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW ' +
    'SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW',
  antarctica: 'AQ BV GS HM',
  asia:
    'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA ' +
    'SA SG SY TH TJ TL TM TR TW UZ VN YE',
  europe:
    'AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT ' +
    'RO RS RU SE SI SJ SK SM UA VA XK',
  'north america':
    'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI',
  oceania: 'AS AU CC CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  'south america': 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
} as const;

export type Continent = keyof typeof countries;

export const continentNames = Object.keys(countries) as readonly Continent[];

/** Common two-letter codes, except those that also denote a country (AF, AS, NA, SA): the country has precedence. */
const codes: Readonly<Record<string, Continent>> = { an: 'antarctica', eu: 'europe', oc: 'oceania' };

const byCountry: ReadonlyMap<string, Continent> = new Map(
  Object.entries(countries).flatMap(([continent, list]) =>
    list.split(' ').map((country) => [country, continent as Continent]),
  ),
);

export function isCountryCode(code: string): boolean {
  return byCountry.has(code.toUpperCase());
}

export function countryCodes(): Iterable<string> {
  return byCountry.keys();
}

export function continentOf(countryCode: string): Continent | undefined {
  return byCountry.get(countryCode);
}

/**
 * @param term in lower case; blanks do not matter
 *
 * @returns undefined if it is neither the name nor the code of a continent
 */
export function continentNamed(term: string): Continent | undefined {
  const key = term.replaceAll(' ', '');
  const named = continentNames.find((name) => name.replaceAll(' ', '') === key);
  return named ?? (Object.hasOwn(codes, key) ? codes[key] : undefined);
}
