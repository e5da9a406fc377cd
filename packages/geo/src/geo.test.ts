import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { unknownPlace } from '@vantage/contract';

import { buildAsn } from './asn/build-asn.ts';
import { openGeo, type Geo, type GeoOptions } from './geo.ts';
import type { MmdbValue } from './mmdb/mmdb-encoding.ts';
import { createMmdbWriter } from './mmdb/mmdb-writer.ts';
import { defaultAsnFile } from './sources/sources.ts';

const nowhere = unknownPlace;
const quiet = { info: () => {}, warn: () => {} };

let folder: string;
/** An excerpt of the bundled data with two addresses, since reading all of that data takes long. */
let excerpt: { readonly bundledCity: string; readonly bundledAsn: string };
let geo: Geo;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'geo-'));
  await writeFile(join(folder, 'dbip-city-ipv4.mmdb'), makeMmdb(cityExcerpt));
  await writeFile(join(folder, 'dbip-city-ipv6.mmdb'), makeMmdb([]));
  await writeFile(join(folder, 'asn.mmdb'), makeMmdb(asnExcerpt));
  excerpt = { bundledCity: folder, bundledAsn: join(folder, 'asn.mmdb') };
});

afterAll(() => rm(folder, { recursive: true }));

async function open(options: Partial<GeoOptions> = {}): Promise<Geo> {
  geo = await openGeo({ ...excerpt, log: quiet, rdapTimeoutMs: 60_000, ...options });
  return geo;
}

type Networks = readonly (readonly [
  bytes: readonly number[],
  length: number,
  record: { readonly [key: string]: MmdbValue },
])[];

function makeMmdb(networks: Networks, databaseType = 'Test', day = '2026-09-01'): Buffer {
  const writer = createMmdbWriter({ databaseType, description: '', ipVersion: 6, buildEpoch: Date.parse(day) / 1000 });
  for (const [bytes, length, record] of networks)
    writer.addNetwork(Uint8Array.from(bytes), length, writer.addRecord(record));
  return writer.toBuffer();
}

/** Writes a file under a new name, so that no test sees the file of another. */
async function putMmdb(...file: Parameters<typeof makeMmdb>): Promise<string> {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.mmdb`);
  await writeFile(path, makeMmdb(...file));
  return path;
}

const inBerlin = {
  city: { names: { en: 'Berlin' } },
  country: { iso_code: 'DE', names: { en: 'Germany' } },
  location: { latitude: 52.52, longitude: 13.405, time_zone: 'Europe/Berlin' },
  subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
};

const cityExcerpt: Networks = [
  [
    [8, 8, 8, 0],
    24,
    {
      city: 'Mountain View',
      country_code: 'US',
      latitude: 37.422,
      longitude: -122.085,
      state1: 'California',
      timezone: '',
    },
  ],
  [
    [193, 0, 0, 0],
    21,
    {
      city: 'Amsterdam',
      country_code: 'NL',
      latitude: 52.3717,
      longitude: 4.8852,
      state1: 'North Holland',
      timezone: '',
    },
  ],
];

const asnExcerpt: Networks = [
  [[8, 8, 8, 0], 24, { autonomous_system_number: 15169, autonomous_system_organization: 'Google LLC' }],
  [[193, 0, 0, 0], 21, { autonomous_system_number: 3333, autonomous_system_organization: 'RIPE NCC' }],
];

describe('the bundled data', () => {
  beforeAll(async () => {
    let bundledAsn = defaultAsnFile();
    if (!existsSync(bundledAsn)) {
      bundledAsn = join(folder, 'bundled.mmdb');
      await buildAsn({ target: bundledAsn });
    }
    await open({ bundledCity: undefined, bundledAsn });
  });

  afterAll(() => geo.close());

  it.each([
    ['8.8.8.8', { asn: 'AS15169', asName: 'Google LLC', countryCode: 'US', country: 'United States' }],
    ['::ffff:8.8.8.8', { asn: 'AS15169', countryCode: 'US', prefix: '8.8.8.0/24' }],
    ['1.1.1.1', { asn: 'AS13335', asName: 'Cloudflare, Inc.', prefix: '1.1.1.0/24' }],
    ['193.0.6.139', { asn: 'AS3333', countryCode: 'NL', country: 'Netherlands', timezone: 'Europe/Amsterdam' }],
    ['2001:4860:4860::8888', { asn: 'AS15169', asName: 'Google LLC' }],
    ['2001:7fb:fd02::1', { asn: 'AS12654', countryCode: 'NL' }],
  ])('knows %s', (address, expected) => {
    expect(geo.lookUp(address)).toMatchObject(expected);
  });

  it('is credited with its licences and dated by the newest source', () => {
    const place = geo.lookUp('8.8.8.8');

    expect(place.provider).toMatch(/DB-IP \(https:\/\/db-ip\.com, CC BY 4\.0\).*RouteViews/);
    expect(place.provider!.length).toBeLessThanOrEqual(256);
    expect(place.dataDate).toBe('2026-06-17');
  });

  it('fills every field of an ordinary address, the owner of the network standing in for provider and organization', () => {
    const place = geo.lookUp('8.8.8.8');

    expect(Object.entries(place).filter(([, value]) => value === null)).toEqual([]);
    expect([place.isp, place.org]).toEqual([place.asName, place.asName]);
  });

  it.each([
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    '169.254.169.254',
    'fe80::1',
    '::ffff:10.0.0.1',
    '224.0.0.1',
    '2001:db8::1',
  ])('says nothing of %s', (address) => {
    expect(geo.lookUp(address)).toEqual(nowhere);
  });

  it('gives each caller a separate object', () => {
    geo.lookUp('8.8.8.8').asn = 'AS64500';

    expect(geo.lookUp('8.8.8.8').asn).toBe('AS15169');
  });

  it('never throws, whatever the text', () => {
    const letters = [
      '0',
      '1',
      '255',
      '256',
      'f',
      'ffff',
      ':',
      '::',
      '.',
      '%',
      '/',
      '-',
      ' ',
      '\0',
      '\uD800',
      'é',
      'x',
      '[',
    ];
    let state = 1;
    const random = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };

    const wrong: string[] = [];
    for (let i = 0; i < 20_000; i += 1) {
      const text = Array.from({ length: random(14) }, () => letters[random(letters.length)]).join('');
      if (Object.keys(geo.lookUp(text)).length !== 14) wrong.push(text);
    }
    expect(wrong).toEqual([]);
    expect(geo.lookUp('__proto__')).toEqual(nowhere);
    expect(geo.lookUp('x'.repeat(1_000_000))).toEqual(nowhere);
  });
});

describe("the operator's files", () => {
  afterEach(() => geo.close());

  it('come before the bundled data, in the layout of MaxMind', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, inBerlin]], 'GeoLite2-City');
    const asnMmdb = await putMmdb(
      [[[8, 8, 0, 0], 16, { autonomous_system_number: 64500, autonomous_system_organization: 'Example Transit' }]],
      'GeoLite2-ASN',
    );
    const ispMmdb = await putMmdb(
      [
        [
          [8, 8, 8, 0],
          24,
          { autonomous_system_number: 64500, isp: 'Example Cable', organization: 'Example University' },
        ],
      ],
      'GeoIP2-ISP',
    );
    const { lookUp } = await open({ cityMmdb, asnMmdb, ispMmdb });

    expect(lookUp('8.8.8.8')).toEqual({
      asn: 'AS64500',
      asName: 'Example Transit',
      isp: 'Example Cable',
      org: 'Example University',
      prefix: '8.8.0.0/16',
      city: 'Berlin',
      region: 'Land Berlin',
      country: 'Germany',
      countryCode: 'DE',
      timezone: 'Europe/Berlin',
      latitude: 52.52,
      longitude: 13.405,
      provider: ['GeoLite2-City', 'GeoLite2-ASN', 'GeoIP2-ISP']
        .map((name) => `${name}, MaxMind (https://www.maxmind.com)`)
        .join('; '),
      dataDate: '2026-09-01',
    });
  });

  it('may hold places and networks in one, as those of IPinfo do', async () => {
    const record = { as_name: 'Example Transit', asn: 'AS64500', country: 'Germany', country_code: 'DE' };
    const { lookUp } = await open({ cityMmdb: await putMmdb([[[8, 8, 8, 0], 24, record]], 'ipinfo lite') });

    expect(lookUp('8.8.8.8')).toMatchObject({
      asn: 'AS64500',
      isp: 'Example Transit',
      country: 'Germany',
      countryCode: 'DE',
    });
    expect(lookUp('8.8.8.8').provider).toBe('ipinfo lite, IPinfo (https://ipinfo.io)');
  });

  it('have the layout of DB-IP, and are credited to it', async () => {
    const record = {
      ...inBerlin,
      traits: {
        autonomous_system_number: 64500,
        autonomous_system_organization: 'Example Transit',
        isp: 'Example Cable',
      },
    };
    const { lookUp } = await open({ cityMmdb: await putMmdb([[[8, 8, 8, 0], 24, record]], 'DBIP-Location-ISP') });

    expect(lookUp('8.8.8.8')).toMatchObject({
      asn: 'AS64500',
      asName: 'Example Transit',
      isp: 'Example Cable',
      city: 'Berlin',
    });
    expect(lookUp('8.8.8.8').provider).toMatch(/DB-IP \(https:\/\/db-ip\.com\)/);
  });

  it('leave the bundled data what they do not know', async () => {
    const { lookUp } = await open({ cityMmdb: await putMmdb([[[8, 8, 8, 0], 24, inBerlin]]) });

    expect(lookUp('8.8.8.8')).toMatchObject({ city: 'Berlin', asn: 'AS15169' });
    expect(lookUp('193.0.6.139')).toMatchObject({ countryCode: 'NL', asn: 'AS3333' });
  });

  it('are not completed with the city of another country or the name of another network', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { country: { iso_code: 'DE' } }]]);
    const asnMmdb = await putMmdb([[[8, 8, 8, 0], 24, { autonomous_system_number: 64500 }]]);
    const { lookUp } = await open({ cityMmdb, asnMmdb });

    expect(lookUp('8.8.8.8')).toMatchObject({ countryCode: 'DE', city: null, latitude: null, timezone: null });
    expect(lookUp('8.8.8.8')).toMatchObject({ asn: 'AS64500', asName: null, isp: null });
  });

  it('are completed with what agrees with them', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { country: { iso_code: 'US' } }]]);
    const { lookUp } = await open({ cityMmdb });

    expect(lookUp('8.8.8.8')).toMatchObject({ countryCode: 'US', timezone: expect.stringMatching(/^America\//) });
  });

  it('are not asked about an address that has no place', async () => {
    const { lookUp } = await open({ cityMmdb: await putMmdb([[[0, 0, 0, 0], 1, inBerlin]]) });

    expect(lookUp('10.0.0.1')).toEqual(nowhere);
    expect(lookUp('9.9.9.9')).toMatchObject({ city: 'Berlin' });
  });

  it('have their texts escaped', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { city: 'a\u202Eb' }]], 'evil\u0000type');
    const { lookUp } = await open({ cityMmdb });

    expect(lookUp('8.8.8.8').city).toBe('a\\u{202e}b');
    expect(lookUp('8.8.8.8').provider).toContain('evil\\u{0}type');
  });
});

describe("a change of an operator's file", () => {
  afterEach(() => geo.close());

  const city = (name: string) => makeMmdb([[[8, 8, 8, 0], 24, { city: name, country_code: 'DE' }]]);
  const cityNow = () => geo.lookUp('8.8.8.8').city;
  const stateNow = () => geo.sources()[0]!.state;

  async function until(what: () => boolean): Promise<void> {
    for (let i = 0; i < 8000 && !what(); i += 1) await delay(5);
    expect(what()).toBe(true);
  }

  /** Atomic: no reader sees a partial file. */
  async function replace(path: string, bytes: Uint8Array): Promise<void> {
    await writeFile(`${path}.new`, bytes);
    await rename(`${path}.new`, path);
  }

  it('is seen while the service runs, whether written in place or renamed over', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { city: 'First', country_code: 'DE' }]]);
    await open({ cityMmdb, pollMs: 10 });
    expect(cityNow()).toBe('First');

    await writeFile(cityMmdb, city('Second'));
    await until(() => cityNow() === 'Second');

    await replace(cityMmdb, city('Third'));
    await until(() => cityNow() === 'Third');
  });

  it('to a damaged one leaves the last good reading, until a good one comes', async () => {
    const warnings: object[] = [];
    const log = { ...quiet, warn: (fields: object) => void warnings.push(fields) };
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { city: 'First', country_code: 'DE' }]]);
    await open({ cityMmdb, pollMs: 10, log });

    await replace(cityMmdb, (await readFile(cityMmdb)).subarray(0, 200));
    await until(() => stateNow() === 'stale');
    expect(cityNow()).toBe('First');
    expect(geo.sources()[0]).toMatchObject({ fault: expect.stringContaining('cut off') });

    await delay(100);
    expect(warnings).toHaveLength(1);

    await replace(cityMmdb, city('Second'));
    await until(() => cityNow() === 'Second');
    expect(stateNow()).toBe('ready');
  });

  it('to none at all leaves it too', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, { city: 'First', country_code: 'DE' }]]);
    const warnings: object[] = [];
    await open({ cityMmdb, pollMs: 10, log: { ...quiet, warn: (fields) => void warnings.push(fields) } });

    await rm(cityMmdb);
    await until(() => stateNow() === 'stale');
    expect(cityNow()).toBe('First');

    await delay(100);
    expect(warnings).toHaveLength(1);
  });

  it('may be that it comes into being', async () => {
    const cityMmdb = join(folder, 'later.mmdb');
    await open({ cityMmdb, pollMs: 10 });
    expect(stateNow()).toBe('missing');
    expect(geo.lookUp('8.8.8.8').countryCode).toBe('US');

    await writeFile(cityMmdb, city('First'));
    await until(() => cityNow() === 'First');
  });
});

describe('without the bundled data', () => {
  afterEach(() => geo.close());

  it('answers without networks when the table of networks has not been built, and says so', async () => {
    const warnings: string[] = [];
    const log = { ...quiet, warn: (_: object, message: string) => void warnings.push(message) };
    const { lookUp, sources } = await open({ bundledAsn: join(folder, 'none.mmdb'), log });

    expect(lookUp('8.8.8.8')).toMatchObject({
      asn: null,
      asName: null,
      isp: null,
      org: null,
      prefix: null,
      countryCode: 'US',
    });
    expect(sources().find(({ role }) => role === 'asn')).toMatchObject({
      state: 'missing',
      fault: expect.stringContaining('ENOENT'),
    });
    expect(warnings).toHaveLength(1);
  });

  it('says so if the data becomes unreadable later, and once in the log', async () => {
    const warnings: string[] = [];
    const log = { ...quiet, warn: (_: object, message: string) => void warnings.push(message) };
    const networks: Networks = Array.from({ length: 400 }, (_, n) => [
      [9, n >> 8, n & 255, 0],
      24,
      { autonomous_system_number: n + 1, autonomous_system_organization: `Example Net ${n}` },
    ]);
    const bundledAsn = await putMmdb(networks);
    const { lookUp, sources } = await open({ bundledAsn, log });
    const asn = (): string => sources().find(({ role }) => role === 'asn')!.state;
    expect(asn()).toBe('ready');

    await truncate(bundledAsn, 100);
    lookUp('9.0.1.1');
    lookUp('9.0.2.1');

    expect(asn()).toBe('missing');
    expect(sources().find(({ role }) => role === 'asn')!.fault).not.toBeNull();
    expect(warnings).toEqual(['bundled geo data cannot be read']);
  });

  it('falls back to geoip-lite for places', async () => {
    const { lookUp, sources } = await open({ bundledCity: join(folder, 'none') });

    expect(sources().map(({ role, state }) => `${role} ${state}`)).toEqual([
      'city missing',
      'asn ready',
      'fallback ready',
    ]);
    expect(lookUp('193.0.6.139')).toMatchObject({
      countryCode: 'NL',
      country: 'Netherlands',
      timezone: 'Europe/Amsterdam',
      asn: 'AS3333',
      provider: expect.stringContaining('MaxMind'),
    });
    expect(lookUp('2001:4860:4860::8888')).toMatchObject({ countryCode: 'US' });
    expect(lookUp('8.8.8.8').city).toBeNull();
  });

  it('loads geoip-lite at the first address that needs it, in parallel with the look-ups', async () => {
    const cityMmdb = await putMmdb([[[8, 8, 8, 0], 24, inBerlin]]);
    const { lookUp, sources } = await open({ cityMmdb, bundledCity: join(folder, 'none') });
    const fallbackNow = () => sources().find(({ role }) => role === 'fallback')!.state;

    lookUp('8.8.8.8');
    expect(fallbackNow()).toBe('idle');

    expect(lookUp('193.0.6.139').countryCode).toBeNull();
    expect(fallbackNow()).toBe('loading');
    for (let i = 0; i < 8000 && fallbackNow() === 'loading'; i += 1) await delay(5);

    expect(lookUp('193.0.6.139').countryCode).toBe('NL');
  });
});

describe('the registry of a network', () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const fn = ['fn', {}, 'text', 'Registered Example Inc.'];
    const registrant = { roles: ['registrant'], vcardArray: ['vcard', [['kind', {}, 'text', 'org'], fn]] };
    const cidr0_cidrs = [{ v4prefix: '8.8.0.0', length: 16 }];
    response.end(JSON.stringify({ objectClassName: 'ip network', country: 'DE', cidr0_cidrs, entities: [registrant] }));
  });

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));

  afterEach(async () => {
    await geo.close();
    asked.length = 0;
  });

  afterAll(() => void server.close());

  const host = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('is not asked unless the operator names a server', async () => {
    const { lookUp, prepare } = await open();
    await prepare('8.8.8.8');

    expect(lookUp('8.8.8.8')).toMatchObject({ asName: 'Google LLC', org: 'Google LLC' });
    expect(asked).toEqual([]);
  });

  it('says whose network it is, and is named as a source; the data keeps the rest', async () => {
    const { lookUp, prepare } = await open({ rdapBaseUrl: `http://${host()}/` });
    const before = lookUp('8.8.8.8');

    await prepare('::ffff:8.8.8.8');
    const after = lookUp('8.8.8.8');

    expect(before.org).toBe('Google LLC');
    const provider = `${before.provider}; registrations by RDAP (${host()})`;
    expect(after).toEqual({ ...before, org: 'Registered Example Inc.', provider });
    expect(asked).toEqual(['/ip/8.8.8.8']);
  });

  it('gives prefix and country where there is nothing else', async () => {
    const nothing = { bundledCity: await emptyCity(), bundledAsn: join(folder, 'none.mmdb') };
    const { lookUp, prepare } = await open({ ...nothing, rdapBaseUrl: `http://${host()}/` });

    await prepare('8.8.4.4');

    expect(lookUp('8.8.4.4')).toMatchObject({ prefix: '8.8.0.0/16', countryCode: 'DE', country: 'Germany', asn: null });
  });

  it.each(['10.0.0.1', '2001:db8::1', 'not an address'])('is not asked about %s', async (address) => {
    const { prepare } = await open({ rdapBaseUrl: `http://${host()}/` });

    await prepare(address);

    expect(asked).toEqual([]);
  });

  async function emptyCity(): Promise<string> {
    const empty = await mkdtemp(join(folder, 'empty-'));
    for (const family of ['ipv4', 'ipv6']) await writeFile(join(empty, `dbip-city-${family}.mmdb`), makeMmdb([]));
    return empty;
  }
});
