import type { Heartbeat, ProbeRecord } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import type { KnownProbe } from '../registry/probe-status.ts';
import { createProbeSelector, type SelectionRequest } from './select-probes.ts';

interface Sketch extends Partial<Omit<ProbeRecord, 'id'>> {
  readonly types?: readonly string[];
  readonly offline?: boolean;
  readonly draining?: boolean;
  readonly degraded?: boolean;
  readonly running?: number;
  readonly unreadable?: boolean;
}

function probe(id: string, sketch: Sketch = {}): KnownProbe {
  const {
    types = ['ping'],
    offline = false,
    draining = false,
    degraded = false,
    running = 0,
    unreadable,
    ...more
  } = sketch;
  const record: ProbeRecord = {
    id,
    name: id,
    datacenter: 'Somewhere',
    countryCode: 'DE',
    isp: 'Example Net',
    asNumber: 'AS64496',
    city: null,
    latitude: null,
    longitude: null,
    tags: [],
    ...more,
  };
  const heartbeat: Heartbeat = {
    v: 1,
    version: '1',
    instance: 'x',
    draining,
    load: { running, capacity: 10 },
    capabilities: { types: [...types], ipv4: true, ipv6: true, screenshot: false },
    degraded: degraded ? ['Something is missing.'] : [],
  };
  return {
    record,
    alive: !offline,
    heartbeat: offline || unreadable === true ? undefined : heartbeat,
    lastSeenMs: 1_000,
  };
}

const { select: selectProbes } = createProbeSelector();

const select = (known: readonly KnownProbe[], request: Partial<SelectionRequest> = {}): unknown =>
  selectProbes(known, { type: 'ping', limit: 10, ...request });

const chosen = (known: readonly KnownProbe[], request?: Partial<SelectionRequest>): readonly string[] => {
  const selection = selectProbes(known, { type: 'ping', limit: 10, ...request });
  return selection.selected ? selection.probes : [];
};

describe('the default selection', () => {
  it.each<[string, readonly KnownProbe[], number, readonly string[]]>([
    ['takes all when there are fewer than asked for', [probe('a'), probe('b')], 10, ['a', 'b']],
    ['takes as many as asked for', [probe('a'), probe('b'), probe('c')], 2, ['a', 'b']],
    ['leaves out who is offline', [probe('a', { offline: true }), probe('b')], 10, ['b']],
    ['leaves out who is shutting down', [probe('a', { draining: true }), probe('b')], 10, ['b']],
    ['leaves out who cannot run the type', [probe('a', { types: ['dns'] }), probe('b')], 10, ['b']],
    ['leaves out whose heartbeat cannot be read', [probe('a', { unreadable: true }), probe('b')], 10, ['b']],
    [
      'takes healthy ones before degraded ones, wherever they are',
      [probe('a', { degraded: true, countryCode: 'FR', asNumber: 'AS64500' }), probe('b'), probe('c')],
      2,
      ['b', 'c'],
    ],
    ['takes degraded ones when there are no others', [probe('a', { degraded: true }), probe('b')], 2, ['b', 'a']],
    [
      'takes the least loaded',
      [probe('a', { running: 9 }), probe('b', { running: 1 }), probe('c', { running: 5 })],
      2,
      ['b', 'c'],
    ],
    [
      'takes another network before a less loaded one of the same',
      [probe('a'), probe('b'), probe('c', { asNumber: 'AS64500', running: 9 })],
      2,
      ['a', 'c'],
    ],
    [
      'takes another country before a less loaded one of the same',
      [probe('a'), probe('b'), probe('c', { countryCode: 'FR', running: 9 })],
      2,
      ['a', 'c'],
    ],
    [
      'takes what is new in both before what is new in one',
      [
        probe('a'),
        probe('b', { countryCode: 'FR' }),
        probe('c', { asNumber: 'AS64500' }),
        probe('d', { countryCode: 'JP', asNumber: 'AS64501', running: 9 }),
      ],
      2,
      ['a', 'd'],
    ],
    [
      'comes to every network and country while there is room',
      [
        ...['a1', 'a2', 'a3', 'a4'].map((id) => probe(id)),
        probe('f', { countryCode: 'FR', running: 3 }),
        probe('j', { countryCode: 'JP', running: 4 }),
        probe('m', { asNumber: 'AS64500', running: 5 }),
        probe('n', { asNumber: 'AS64501', running: 6 }),
      ],
      5,
      ['a1', 'm', 'f', 'n', 'j'],
    ],
    [
      'shares a second round evenly',
      [
        probe('a1'),
        probe('a2'),
        probe('a3'),
        ...['b1', 'b2', 'b3'].map((id) => probe(id, { countryCode: 'FR', asNumber: 'AS64500', running: 5 })),
      ],
      4,
      ['a1', 'b1', 'a2', 'b2'],
    ],
  ])('%s', (_reason, known, limit, expected) => {
    expect(chosen(known, { limit })).toEqual(expected);
  });

  it('lets equal probes take turns by the order it is given', () => {
    const order: Readonly<Record<string, number>> = { a: 3, b: 1, c: 2 };

    expect(chosen([probe('a'), probe('b'), probe('c')], { tieBreak: (id) => order[id]! })).toEqual(['b', 'c', 'a']);
  });

  it('is quick with a thousand probes', () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      probe(`p${index}`, { asNumber: `AS${64_496 + (index % 16)}`, countryCode: ['DE', 'FR', 'JP'][index % 3]! }),
    );

    expect(new Set(chosen(many, { limit: 100 })).size).toBe(100);
  });
});

describe('selection by location', () => {
  const known = [
    probe('fra', {
      city: 'Frankfurt',
      isp: 'Deutsche Beispiel AG',
      asNumber: 'AS64496',
      datacenter: 'DC-IX Frankfurt 2',
    }),
    probe('par', { countryCode: 'FR', city: 'Paris', asNumber: 'AS64497', isp: 'Réseau Exemple', tags: ['demo'] }),
    probe('nyc', {
      countryCode: 'US',
      city: 'New York',
      asNumber: 'AS64498',
      isp: 'Claro de Example',
      tags: ['cloud', 'demo'],
    }),
    probe('tok', { countryCode: 'JP', city: 'Tōkyō', asNumber: 'AS64499', isp: 'Example IX' }),
    probe('gru', { countryCode: 'BR', city: 'São Paulo', asNumber: 'AS64500' }),
    probe('ruh', { countryCode: 'SA', city: 'Riyadh', asNumber: 'AS64501' }),
    probe('dub', { countryCode: 'AE', city: 'Dubai', asNumber: 'AS64502', isp: 'York Networks' }),
  ];

  it.each<[string, readonly string[], readonly string[]]>([
    ['a country code', ['DE'], ['fra']],
    ['a country code in lower case, which is no word of a network’s name', ['de'], ['fra']],
    ['a country name', ['Japan'], ['tok']],
    ['a country name of two words', ['united arab emirates'], ['dub']],
    ['a common short name', ['USA'], ['nyc']],
    ['a city', ['paris'], ['par']],
    ['a city without its accents', ['sao paulo'], ['gru']],
    ['a city of two words, not its parts', ['york'], ['dub']],
    ['a continent', ['Europe'], ['fra', 'par']],
    ['a continent of two words', ['south america'], ['gru']],
    ['a continent’s code', ['eu'], ['fra', 'par']],
    ['a code that is a country’s and a continent’s: the country', ['SA'], ['ruh']],
    ['a network number', ['AS64499'], ['tok']],
    ['a network number in lower case', ['as64499'], ['tok']],
    ['a part of a network number', ['AS6449'], []],
    ['a network name', ['Deutsche Beispiel AG'], ['fra']],
    ['a word of a network name', ['beispiel'], ['fra']],
    ['a piece of a word of a network name', ['beisp'], []],
    ['a network name without its accents', ['reseau exemple'], ['par']],
    ['a datacenter name, punctuation aside', ['dc ix frankfurt 2'], ['fra']],
    ['a tag', ['demo'], ['nyc', 'par']],
    ['terms that must all hold', ['demo+US'], ['nyc']],
    ['terms that cannot all hold', ['demo+DE'], []],
    ['several places', ['Japan', 'Paris'], ['par', 'tok']],
    ['a name that is a property of every object', ['constructor'], []],
    ['a regular expression', ['.*'], []],
  ])('finds by %s', (_reason, locations, expected) => {
    expect(chosen(known, { locations }).toSorted()).toEqual(expected);
  });

  it('gives each place its share', () => {
    const crowd = [...['d1', 'd2', 'd3', 'd4'].map((id) => probe(id)), probe('jp', { countryCode: 'JP', running: 9 })];

    expect(chosen(crowd, { locations: ['DE', 'JP'], limit: 2 })).toEqual(['d1', 'jp']);
  });

  it.each([
    ['a wide one first', ['Europe', 'de']],
    ['a narrow one first', ['de', 'Europe']],
  ])('gives each its share where some probes are in both: %s', (_reason, locations) => {
    const crowd = [
      ...['d1', 'd2', 'd3', 'd4'].map((id) => probe(id)),
      ...['f1', 'f2', 'f3'].map((id) => probe(id, { countryCode: 'FR', running: 9 })),
    ];
    const taken = chosen(crowd, { locations, limit: 4 });

    expect(taken.filter((id) => id.startsWith('d'))).toHaveLength(2);
    expect(taken).toHaveLength(4);
  });

  it('fills what a place lacks from another', () => {
    const crowd = [probe('d1'), probe('d2'), probe('d3'), probe('f1', { countryCode: 'FR' })];

    expect(chosen(crowd, { locations: ['Europe', 'de'], limit: 4 }).toSorted()).toEqual(['d1', 'd2', 'd3', 'f1']);
  });

  it('tells a name that means nothing from a place without a probe', () => {
    expect(select(known, { locations: ['Osaka'] })).toMatchObject({ selected: false, reason: 'no-probe' });
    expect(select(known, { locations: ['Osakka'] })).toMatchObject({
      selected: false,
      reason: 'invalid',
      errors: [{ path: '/locations/0', message: expect.stringContaining('the nearest known name is "Osaka"') }],
    });
  });

  it.each([[['']], [['de+']], [['+']], [['de', ' + x']], [['!!']]])('refuses %j as unreadable', (locations) => {
    const path = `/locations/${locations.length - 1}`;

    expect(select(known, { locations })).toEqual({
      selected: false,
      reason: 'invalid',
      errors: [{ path, message: expect.stringContaining('+') }],
    });
  });
});

describe('locations of which only some have a probe', () => {
  const known = [
    probe('a'),
    probe('b', { countryCode: 'FR', offline: true }),
    probe('c', { countryCode: 'JP', types: ['dns'] }),
    probe('d', { countryCode: 'US', degraded: true }),
  ];

  it.each<[readonly string[], readonly string[] | undefined]>([
    [['DE', 'US'], undefined],
    [['DE', 'BR'], ['BR']],
    [
      ['France', 'de', 'jp', 'Brazil'],
      ['France', 'jp', 'Brazil'],
    ],
  ])('names those without one that can run the check: %j', (locations, emptyLocations) => {
    expect(selectProbes(known, { type: 'ping', limit: 10, locations })).toEqual({
      selected: true,
      probes: locations.includes('US') ? ['a', 'd'] : ['a'],
      offline: new Map(),
      ...(emptyLocations === undefined ? {} : { emptyLocations }),
    });
  });
});

describe('selection by name', () => {
  const known = [
    probe('a'),
    probe('b', { offline: true }),
    probe('c', { types: ['dns'] }),
    probe('d', { draining: true }),
  ];

  it('takes exactly those, in their order, whatever the limit', () => {
    expect(select(known, { probes: ['c', 'a'], limit: 1 })).toEqual({
      selected: true,
      probes: ['c', 'a'],
      offline: new Map(),
    });
  });

  it('says of those who cannot take a job why', () => {
    expect(select(known, { probes: ['a', 'b', 'd'] })).toEqual({
      selected: true,
      probes: ['a', 'b', 'd'],
      offline: new Map([
        ['b', expect.stringContaining('offline')],
        ['d', expect.stringContaining('shutting down')],
      ]),
    });
  });

  it('comes with the probe that was probably meant if it is unknown', () => {
    const demo = [{ ...known[0]!, record: { ...known[0]!.record, id: 'demo-1' } }];
    expect(select(demo, { probes: ['demo1'] })).toMatchObject({
      errors: [{ path: '/probes/0', message: 'there is no probe "demo1"; did you mean "demo-1"?' }],
    });
  });

  it('points to each unknown name, with control characters made visible', () => {
    expect(select(known, { probes: ['a', 'x\u202e', 'y'] })).toEqual({
      selected: false,
      reason: 'invalid',
      errors: [
        { path: '/probes/1', message: 'there is no probe "x\\u{202e}"' },
        { path: '/probes/2', message: 'there is no probe "y"' },
      ],
    });
  });
});

describe('an empty selection', () => {
  it.each<[string, readonly KnownProbe[], Partial<SelectionRequest>, string]>([
    ['none is registered', [], {}, 'No probe is registered yet.'],
    [
      'none is there',
      [probe('a')],
      { locations: ['JP', 'Osaka\u0007'] },
      'There is no probe at "JP" or "Osaka\\u{7}". Probes are online in DE (networks: AS64496).',
    ],
    [
      'none is there, and many are elsewhere',
      [
        ...['FR', 'DE', 'US'].map((countryCode, n) => probe(`a${n}`, { countryCode, asNumber: `AS${100 - n}` })),
        ...Array.from({ length: 9 }, (_, n) => probe(`b${n}`, { countryCode: 'DE', asNumber: `AS${n + 1}` })),
        probe('c', { countryCode: 'SE', offline: true }),
      ],
      { locations: ['JP'] },
      'There is no probe at "JP". Probes are online in DE, FR and US (networks: AS1, AS2, AS3, AS4, AS5, AS6, AS7, AS8 and 4 more networks).',
    ],
    [
      'none is there, nor anywhere',
      [probe('a', { offline: true })],
      { locations: ['JP'] },
      'There is no probe at "JP".',
    ],
    ['the only one is offline', [probe('a', { offline: true })], {}, 'The only probe is not online.'],
    [
      'all are offline',
      [probe('a', { offline: true }), probe('b', { draining: true })],
      { locations: ['DE'] },
      'None of the 2 probes at "DE" is online.',
    ],
    ['the only one cannot', [probe('a', { types: [] })], {}, 'The only probe that is online cannot run ping checks.'],
    [
      'none of them can',
      [probe('a', { types: [] }), probe('b', { types: ['dns'] }), probe('c', { offline: true })],
      {},
      'None of the 2 probes that are online can run ping checks.',
    ],
  ])('is explained when %s', (_reason, known, request, detail) => {
    expect(select(known, request)).toEqual({ selected: false, reason: 'no-probe', detail });
  });
});

describe('the selection in an order that is new each time', () => {
  /** Rank of a probe given the selection so far: the documented order without its last criterion. */
  const rankOf = ({ record, heartbeat }: KnownProbe, taken: readonly KnownProbe[]): readonly number[] => {
    const network = taken.filter((other) => other.record.asNumber === record.asNumber).length;
    const country = taken.filter((other) => other.record.countryCode === record.countryCode).length;
    const isNew = Math.min(network, 1) + Math.min(country, 1);
    return [heartbeat!.degraded.length, isNew, network + country, network, heartbeat!.load.running];
  };
  const compare = (one: readonly number[], other: readonly number[]): number => {
    const index = one.findIndex((value, at) => value !== other[at]);
    return index < 0 ? 0 : one[index]! - other[index]!;
  };

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('takes none that another one is before, however they are mixed (%d)', (seed) => {
    const known = Array.from({ length: 60 }, (_, index) =>
      probe(`p${index}`, {
        asNumber: `AS${64_500 + ((index * seed) % 7)}`,
        countryCode: ['DE', 'FR', 'AS', 'US'][(index * index * seed) % 4]!,
        running: (index * 31 * seed) % 3,
        degraded: (index * 7) % (seed + 1) === 0,
      }),
    );
    const taken: KnownProbe[] = [];
    for (const id of chosen(known, { limit: 30, tieBreak: 'random' })) {
      const next = known.find(({ record }) => record.id === id)!;
      const rank = rankOf(next, taken);
      const isBest = known.every((other) => taken.includes(other) || compare(rankOf(other, taken), rank) >= 0);

      expect([id, isBest]).toEqual([id, true]);
      taken.push(next);
    }
    expect(new Set(taken).size).toBe(30);
  });

  it('takes each of equals in turn', () => {
    const known = Array.from({ length: 5 }, (_, index) => probe(`p${index}`));
    const seen = new Set<string>();
    for (let times = 0; times < 500; times += 1) seen.add(chosen(known, { limit: 1, tieBreak: 'random' })[0]!);

    expect(seen.size).toBe(5);
  });
});

describe('the selection by locations, one after another', () => {
  const watched = (): { readonly known: KnownProbe[]; readonly polls: () => number } => {
    let polls = 0;
    const known = Array.from({ length: 20 }, (_, index) => {
      const plain = probe(`p${index}`, { isp: index % 2 === 0 ? 'Transit A' : 'Transit B' });
      const record = Object.defineProperty({ ...plain.record }, 'isp', {
        enumerable: true,
        get: () => {
          polls += 1;
          return plain.record.isp;
        },
      });
      return { ...plain, record };
    });
    return { known, polls: () => polls };
  };

  it('looks through the records once for each place while no record changes', () => {
    const { known, polls } = watched();
    chosen(known, { locations: ['Transit B'], limit: 3 });
    const once = polls();
    // New objects with the same records, as after new heartbeats.
    const later = known.map((one) => ({ ...one }));
    const again = chosen(later, { locations: ['Transit B'], limit: 3 });

    expect(once).toBeGreaterThan(0);
    expect(polls()).toBe(once);
    expect(again).toEqual(['p1', 'p11', 'p13']);
  });

  it('sees a record that has changed, and one that is new', () => {
    const known = [probe('a', { isp: 'Transit A' }), probe('b', { isp: 'Transit B' })];
    const before = chosen(known, { locations: ['Transit B'] });
    const after = chosen([...known.slice(1), probe('a', { isp: 'Transit B' }), probe('c', { isp: 'Transit B' })], {
      locations: ['Transit B'],
    });

    expect([before, after]).toEqual([['b'], ['a', 'b', 'c']]);
  });

  it('takes of those that are eligible, and remembers nothing of who was not', () => {
    const known = [probe('a'), probe('b')];
    const some = chosen(known, { locations: ['DE'], isEligible: ({ record }) => record.id === 'b' });

    expect([some, chosen(known, { locations: ['DE'] })]).toEqual([['b'], ['a', 'b']]);
  });
});

describe('a selector that follows changing probes', () => {
  const types = ['ping', 'dns'];
  const places = ['fra', 'nyc', 'sgp'];
  let seed = 1;
  /** Park and Miller's generator, so that a failure can be repeated. */
  const draw = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const random = (index: number): KnownProbe =>
    probe(`p-${index}`, {
      asNumber: `AS${64_496 + (index % 5)}`,
      countryCode: ['DE', 'US', 'SG'][index % 3]!,
      tags: [places[index % 3]!, ...(index % 4 === 0 ? ['fra'] : [])],
      types: draw(6) === 0 ? ['dns'] : types,
      offline: draw(8) === 0,
      draining: draw(12) === 0,
      degraded: draw(5) === 0,
      running: draw(10),
    });

  it('looks at no probe again while the list is the same', () => {
    const { select } = createProbeSelector();
    let polls = 0;
    const known = new Proxy(
      Array.from({ length: 1_000 }, (_, index) => probe(`p-${index}`)),
      {
        get: (list, key) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) polls += 1;
          return Reflect.get(list, key) as unknown;
        },
      },
    );
    const request = { type: 'ping', limit: 5, locations: ['DE'] };
    const first = select(known, request);
    const looksOfFirst = polls;
    const second = select(known, request);

    expect(looksOfFirst).toBeGreaterThanOrEqual(1_000);
    expect(polls - looksOfFirst).toBe(0);
    expect(second).toEqual(first);
  });

  it('selects as one that sees them for the first time', () => {
    const { select: follow } = createProbeSelector();
    let known = Array.from({ length: 60 }, (_, index) => random(index));
    for (let round = 0; round < 200; round += 1) {
      known = known.map((before, index) => (draw(10) === 0 ? { ...random(index), record: before.record } : before));
      // Sometimes the list of records changes, too.
      if (draw(40) === 0) known = [...known.slice(1), random(100 + round)];
      const request: SelectionRequest = {
        type: types[draw(2)]!,
        limit: 1 + draw(12),
        ...(draw(3) === 0 ? {} : { locations: places.slice(draw(3)) }),
        ...(draw(3) === 0 ? { isEligible: ({ record }) => Number(record.id.slice(2)) % 3 > 0 } : {}),
      };

      expect(follow(known, request)).toEqual(createProbeSelector().select(known, request));
    }
  });

  it('selects none if none of the probes in the locations is eligible', () => {
    const known = [probe('fra-1'), probe('fra-2')];

    expect(select(known, { isEligible: () => false })).toMatchObject({ selected: false, reason: 'no-probe' });
  });
});
