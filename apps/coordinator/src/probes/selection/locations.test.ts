import type { ProbeRecord } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { readLocations } from './locations.ts';

function probe(id: string, countryCode: string, city: string | null, more: Partial<ProbeRecord> = {}): ProbeRecord {
  return {
    id,
    name: id,
    datacenter: `${id} one`,
    countryCode,
    isp: 'Example Net',
    asNumber: 'AS64496',
    city,
    latitude: null,
    longitude: null,
    tags: [],
    ...more,
  };
}

const records: readonly ProbeRecord[] = [
  ...['TR', 'CZ', 'MM', 'BA', 'MO', 'CI', 'KR', 'VN', 'RU', 'NL', 'PS', 'US', 'FR', 'GE', 'JE', 'GN', 'GQ'].map(
    (code) => probe(code, code, null),
  ),
  ...['NE', 'NG', 'CD', 'CG', 'TW', 'CN', 'DM', 'DO', 'AU', 'SA'].map((code) => probe(code, code, null)),
  probe('hk-1', 'HK', 'Hong Kong'),
  probe('hk-2', 'HK', 'Tsuen Wan'),
  probe('lon', 'GB', 'London'),
  probe('edi', 'GB', 'Edinburgh'),
  probe('fra', 'DE', 'Frankfurt am Main', { datacenter: 'FRA 7', asNumber: 'AS3320' }),
  probe('ffo', 'DE', 'Frankfurt (Oder)'),
  probe('muc', 'DE', 'München', { tags: ['Jersey'] }),
  probe('han', 'VN', 'Hà Nội'),
  probe('waw', 'PL', 'Warszawa'),
  probe('nyc', 'US', 'New York City'),
  probe('jer', 'US', 'Jersey City', { isp: 'China Telecom' }),
  probe('atl', 'US', 'Atlanta'),
  probe('leb', 'US', 'Lebanon'),
  probe('lod', 'PL', 'Łódź'),
  probe('tlv', 'IL', 'Tel Aviv-Yafo'),
  probe('stp', 'US', 'St. Paul'),
  probe('sao', 'BR', 'São Paulo'),
  probe('was', 'US', 'Washington, D.C.'),
  probe('gdl', 'MX', 'Guadalajara'),
];

const found = (location: string): string => {
  const read = readLocations([location], records);
  if ('errors' in read) return read.errors.map(({ message }) => message).join(' ');
  return records
    .filter((record) => read.locations.some((terms) => terms.every((holds) => holds(record))))
    .map(({ id }) => id)
    .toSorted()
    .join(' ');
};

describe('a country', () => {
  it.each([
    ['TR', 'Turkey|Türkiye|turkiye|TUR|Republic of Türkiye'],
    ['CZ', 'Czech Republic|Czechia|Česko|CZE'],
    ['MM', 'Myanmar|Burma|Myanmar (Burma)|MMR'],
    ['BA', 'Bosnia and Herzegovina|Bosnia & Herzegovina|Bosnia-Herzegovina|Bosnia|BIH'],
    ['MO', 'Macao|Macau|MAC'],
    ['CI', "Ivory Coast|Côte d’Ivoire|Cote d'Ivoire|CIV"],
    ['KR', 'South Korea|Republic of Korea|Korea, Republic of|Korea|KOR'],
    ['RU', 'Russian Federation|Russia|Россия'],
    ['NL', 'Netherlands|The Netherlands|Holland|Kingdom of the Netherlands|the netherlands'],
    ['PS', 'Palestine|State of Palestine'],
    ['FR', 'France|FRANCE|French Republic'],
    ['TW', 'Taiwan|Republic of China'],
    ['CN', 'China|People’s Republic of China|中国'],
    ['hk-1 hk-2', 'Hong Kong|HK|HKG|hongkong|Hong Kong SAR China'],
    ['edi lon', 'United Kingdom|UK|Great Britain|GBR'],
    ['VN han', 'Viet Nam|Vietnam|Socialist Republic of Viet Nam'],
    ['US atl jer leb nyc stp was', 'United States of America|U.S.A.|USA|u.s.|United States'],
    ['ffo fra muc', 'Germany|Deutschland|Federal Republic of Germany|DEU'],
    ['AU', 'Australia'],
    ['SA', 'SA|Saudi Arabia|Kingdom of Saudi Arabia'],
  ])('is %s by each of its names: %s', (expected, names) => {
    const list = names.split('|');
    expect(list.map((name) => [name, found(name)])).toEqual(list.map((name) => [name, expected]));
  });

  it.each([
    ['is not the American state, and no city of it', 'Georgia', 'GE'],
    ['is not the larger country whose name begins alike', 'Niger', 'NE'],
    ['is not the smaller country whose name begins alike', 'Nigeria', 'NG'],
    ['is not a country with a longer name', 'Guinea', 'GN'],
    ['is not the one whose name is part of it', 'Equatorial Guinea', 'GQ'],
    ['is not its neighbour of almost the same name', 'Dominica', 'DM'],
    ['is not its neighbour of almost the same name', 'Dominican Republic', 'DO'],
    ['is not a city that begins alike, but has its tag', 'Jersey', 'JE muc'],
    ['is not a network’s word', 'China', 'CN'],
    ['is both when the name is both’s', 'Congo', 'CD CG'],
    ['is one of two when the name says which', 'Democratic Republic of the Congo', 'CD'],
    ['is one of two when the name says which', 'Republic of the Congo', 'CG'],
    ['is not a city of that name elsewhere', 'Lebanon', ''],
  ])('%s: %s', (_reason, name, expected) => {
    expect(found(name)).toBe(expected);
  });

  it('is a code for private use that a probe has', () => {
    const demo = probe('demo-1', 'QM', null);

    expect(readLocations(['qm'], [demo])).toHaveProperty('locations');
    expect(readLocations(['qm'], records)).toHaveProperty('errors');
  });

  it('is not a code of three letters that a datacenter, a network or a tag has', () => {
    expect(found('FRA')).toBe('fra');
    const without = records.filter(({ id }) => id !== 'fra');
    const read = readLocations(['FRA'], without) as {
      readonly locations: readonly (readonly ((record: ProbeRecord) => boolean)[])[];
    };
    expect(without.filter((record) => read.locations[0]!.every((holds) => holds(record))).map(({ id }) => id)).toEqual([
      'FR',
    ]);
  });
});

describe('a part of the United Kingdom', () => {
  it.each([
    ['England', 'lon'],
    ['Scotland', 'edi'],
    ['Wales', ''],
    ['northern ireland', ''],
    ['NorthernIreland', ''],
  ])('has the cities that are in it: %s', (nation, expected) => {
    expect(found(nation)).toBe(expected);
  });

  it.each([
    ['England', 'newport'],
    ['Wales', 'casnewydd'],
  ])('has a city whose record names it, not a larger one of that name: %s', (nation, expected) => {
    const there = [probe('newport', 'GB', 'Newport, England'), probe('casnewydd', 'GB', 'Newport')];

    expect(idsOf(nation, there)).toEqual([expected]);
  });
});

describe('a city', () => {
  it.each([
    ['Frankfurt', 'ffo fra'],
    ['Frankfurt am Main', 'fra'],
    ['Frankfurt (Oder)', 'ffo'],
    ['Hanoi', 'han'],
    ['Ha Noi', 'han'],
    ['hà nội', 'han'],
    ['Warsaw', 'waw'],
    ['Warschau', 'waw'],
    ['warszawa', 'waw'],
    ['Munich', 'muc'],
    ['Muenchen', 'muc'],
    ['Munchen', 'muc'],
    ['New York', 'nyc'],
    ['NYC', 'nyc'],
    ['Lodz', 'lod'],
    ['Tel Aviv', 'tlv'],
    ['Saint Paul', 'stp'],
    ['SAO PAULO', 'sao'],
    ['Washington', 'was'],
    ['Washington DC', 'was'],
  ])('is found as %s', (name, expected) => {
    expect(found(name)).toBe(expected);
  });

  it.each([
    ['York', 'New York is another'],
    ['Paul', 'a word within a name is not the name'],
    ['Osaka', 'no probe is there'],
    ['Guadalajara Spain', 'no city is so named'],
  ])('is not found as %s: %s', (name) => {
    const read = readLocations([name], records);
    const ids = 'errors' in read ? [] : records.filter((record) => read.locations[0]!.every((holds) => holds(record)));
    expect(ids).toEqual([]);
  });
});

describe('a city in another script or spelling', () => {
  it.each([
    ['東京', 'Tokyo'],
    ['Москва', 'Moscow'],
    ['МОСКВА', 'Moscow'],
    ['Αθήνα', 'Athens'],
    ['αθηνα', 'Athens'],
    ['서울', 'Seoul'],
    ['القاهرة', 'Cairo'],
    ['北京', 'Beijing'],
    ['香港', 'Hong Kong'],
    ['Київ', 'Kyiv'],
    ['София', 'Sofia'],
    ['תל אביב', 'Tel Aviv'],
    ['दिल्ली', 'Delhi'],
    ['กรุงเทพ', 'Bangkok'],
    ['Muenchen', 'Munich'],
    ['Koeln', 'Cologne'],
    ['Nuernberg', 'Nuremberg'],
    ['Goeteborg', 'Gothenburg'],
    ['Duesseldorf', 'Düsseldorf'],
    ['Zuerich', 'Zürich'],
    ['Moskva', 'Moscow'],
  ])('is found as %s', (name, city) => {
    const there = [probe('there', 'XX', city), probe('elsewhere', 'XX', 'Ulm')];
    expect(idsOf(name, there)).toEqual(['there']);
    // The name is known even without a probe there.
    expect(idsOf(name, there.slice(1))).toEqual([]);
  });
});

describe('a state or province', () => {
  const there = [
    probe('muc', 'DE', 'Munich'),
    probe('nue', 'DE', 'Nürnberg'),
    probe('fra', 'DE', 'Frankfurt am Main'),
    probe('sfo', 'US', 'San Francisco'),
    probe('lax', 'US', 'Los Angeles'),
    probe('iad', 'US', 'Ashburn'),
    probe('nyc', 'US', 'New York City'),
    probe('buf', 'US', 'Buffalo'),
    probe('yyz', 'CA', 'Toronto'),
    probe('zrh', 'CH', 'Zürich'),
    probe('syd', 'AU', 'Sydney'),
    probe('vie', 'AT', 'Vienna'),
    probe('yul', 'CA', 'Montréal'),
    probe('tyo', 'JP', 'Tokyo'),
    probe('cgn', 'DE', 'Cologne'),
  ];

  it.each([
    ['Bavaria', 'muc nue'],
    ['Bayern', 'muc nue'],
    ['DE-BY', 'muc nue'],
    ['de-by', 'muc nue'],
    ['Hesse', 'fra'],
    ['Hessen', 'fra'],
    ['Nordrhein-Westfalen', 'cgn'],
    ['North Rhine-Westphalia', 'cgn'],
    ['California', 'lax sfo'],
    ['US-CA', 'lax sfo'],
    ['us ca', 'lax sfo'],
    ['US_CA', 'lax sfo'],
    ['US–CA', 'lax sfo'],
    ['State of California', 'lax sfo'],
    ['Virginia', 'iad'],
    ['Ontario', 'yyz'],
    ['Québec', 'yul'],
    ['New South Wales', 'syd'],
    ['New York State', 'buf nyc'],
    ['US-NY', 'buf nyc'],
    ['New York', 'nyc'],
    ['Texas', ''],
    ['us+California', 'lax sfo'],
    ['de+California', ''],
  ])('has the cities that are in it: %s', (name, ids) => {
    expect(idsOf(name, there).toSorted().join(' ')).toBe(ids);
  });

  it.each([
    ['Oregon', ['pdx', 'portland']],
    ['Maine', ['pwm', 'psm']],
    ['US-NH', []],
    ['us dc', ['was']],
    ['Ontario', ['yxu']],
    ['Saxony-Anhalt', ['halle']],
  ])('has the cities whose record names it, of several with one name: %s', (state, ids) => {
    const namesakes = [
      probe('pdx', 'US', 'Portland, Oregon'),
      probe('pwm', 'US', 'Portland, ME, USA'),
      probe('psm', 'US', 'Portland (Maine)'),
      probe('portland', 'US', 'Portland'),
      probe('was', 'US', 'Washington, D.C.'),
      probe('yxu', 'CA', 'London, ON'),
      probe('halle', 'DE', 'Halle (Saale)'),
    ];

    expect(idsOf(state, namesakes)).toEqual(ids);
  });

  it.each([
    ['Kanagawa', 'JP-14', 'JP'],
    ['JP-14', 'JP-14', 'JP'],
    ['Île-de-France', 'FR-IDF', 'FR'],
    ['Rajasthan', 'IN-RJ', 'IN'],
  ])('whose cities are not known is refused with that reason: %s', (name, code, country) => {
    expect(readLocations([name], there)).toEqual({
      errors: [
        {
          path: '/locations/0',
          message: `"${name}" is a state or province (${code}) whose cities this service does not know: give a city of it, or ${country}`,
        },
      ],
    });
  });

  it.each(['Hallstatt', 'Boydton', 'Longyearbyen Nord'])('or a village is never said not to be a place: %s', (name) => {
    expect(JSON.stringify(readLocations([name], there))).not.toMatch(/neither|not a place|no place/);
  });
});

function idsOf(name: string, known: readonly ProbeRecord[]): readonly string[] {
  const read = readLocations([name], known);
  if ('errors' in read) return [JSON.stringify(read.errors)];
  return known.filter((record) => read.locations[0]!.every((holds) => holds(record))).map(({ id }) => id);
}

describe('blanks and punctuation', () => {
  const there = [
    probe('fra', 'DE', 'Frankfurt am Main', { isp: 'Deutsche Telekom AG', tags: ['us-east-1'] }),
    probe('chi', 'US', 'Chicago', { isp: 'Deutschland Kom', datacenter: 'NorthPoint 2' }),
  ];

  it.each([
    ['DeutscheTelekom', 'fra'],
    ['deutsche_telekom', 'fra'],
    ['Telekom AG', 'fra'],
    ['us east1', 'fra'],
    ['useast1', 'fra'],
    ['North America', 'chi'],
    ['NorthAmerica', 'chi'],
    ['the north-america', 'chi'],
    ['U.S.', 'chi'],
    ['E.U.', 'fra'],
    ['north point 2', 'chi'],
    ['Telek', ''],
    ['tscheTelekom', ''],
    ['DeutscheTele', ''],
  ])('do not matter, and words are whole: %s', (name, ids) => {
    const found = idsOf(name, there);

    expect(found.every((id) => id.startsWith('[')) ? '' : found.join(' ')).toBe(ids);
  });
});

describe('a network number', () => {
  it.each(['AS3320', 'as 3320', 'AS-3320', 'ASN 3320', 'ASN3320', 'AS03320'])('is read from %s', (name) => {
    expect(found(name)).toBe('fra');
  });

  it.each(['AS332', 'AS33200'])('is not found by another: %s', (name) => {
    expect(found(name)).toBe('');
  });
});

describe('a name that means nothing', () => {
  it.each([
    ['Turky', 'Turkey'],
    ['Germny', 'Germany'],
    ['Frankfrut', 'Frankfurt am Main'],
    ['Untied Kingdom', 'United Kingdom'],
    ['Osakka', 'Osaka'],
    // The largest of equally near cities, although smaller ones have its name, too.
    ['Santigo', 'Santiago'],
    ['Venna', 'Vienna'],
    ['Boson', 'Boston'],
    ['Exmaple Net', 'Example Net'],
    ['Eurpoe', 'europe'],
  ])('is distinguished from a place without a probe, with the nearest name: %s', (name, nearest) => {
    expect(found(name)).toContain(`; the nearest known name is "${nearest}"`);
  });

  it.each(['qzxwvk', 'Vodaphone', 'constructor', 'q', '💥 x'])('has none where none is near: %s', (name) => {
    expect(found(name)).toBe(
      `"${name}" is no name that this service knows, and no probe has a city, network, datacenter or tag of that name`,
    );
  });

  it('is not compared with other names if it is a probe', () => {
    const there = [probe('fra-1', 'DE', 'Frankfurt', { datacenter: 'FRA', tags: ['fra'] })];

    expect(readLocations(['fra', 'fra-1', 'fra-2'], there)).toMatchObject({
      errors: [
        { path: '/locations/1', message: '"fra-1" is a probe, no location: name it in `probes`' },
        { path: '/locations/2', message: expect.stringContaining('is no name that this service knows') },
      ],
    });
  });

  it('is named with its control characters visible, and each of them is', () => {
    const read = readLocations(['Japan', 'de+xq\u202e', 'zq'], records);

    expect(read).toEqual({
      errors: [
        { path: '/locations/1', message: expect.stringContaining('"xq\\u{202e}" is no name that this service knows') },
        { path: '/locations/2', message: expect.stringContaining('"zq" is no name that this service knows') },
      ],
    });
  });

  it.each(['Japan', 'JP', 'JPN', 'Osaka', 'Oceania', 'Wales', 'AS64999', 'demo+Kyoto'])(
    'is not %s, where only no probe is',
    (name) => {
      const demo = probe('x', 'DE', null, { tags: ['demo'] });
      expect(readLocations([name], [demo])).toHaveProperty('locations');
    },
  );
});
