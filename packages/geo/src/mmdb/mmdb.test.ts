import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, describe, expect, it } from '@jest/globals';
import { Reader, type Response } from 'mmdb-lib';

import { parseAddress, type Address } from '../address.ts';
import { createMmdbWriter, type MmdbOptions } from './mmdb-writer.ts';
import { openMmdb, readMmdb } from './mmdb.ts';

const options: MmdbOptions = {
  databaseType: 'Test-City',
  description: 'made by a test',
  ipVersion: 6,
  buildEpoch: 1_780_000_000,
};

function makeFile(overrides: Partial<MmdbOptions> = {}): Buffer {
  const writer = createMmdbWriter({ ...options, ...overrides });
  const [wide, narrow] = [writer.addRecord({ city: 'Wide', country_code: 'DE' }), writer.addRecord({ city: 'Narrow' })];
  writer.addNetwork(Uint8Array.of(81, 0, 0, 0), 8, wide);
  writer.addNetwork(Uint8Array.of(81, 2, 69, 0), 24, narrow);
  if (overrides.ipVersion !== 4) writer.addNetwork(Uint8Array.from(parseAddress('2a00:1450::')!.bytes), 32, wide);
  return writer.toBuffer();
}

describe('a file that the writer makes', () => {
  it.each([24, 28, 32] as const)('is read alike with records of %d bits, here and by mmdb-lib', async (recordBits) => {
    const file = makeFile({ recordBits });
    const mmdb = await readMmdb(file);
    const secondOpinion = new Reader<Response>(file);

    for (const text of [
      '81.2.69.1',
      '81.2.68.255',
      '81.255.255.255',
      '2a00:1450:4001::1',
      '82.0.0.1',
      '2a00:1451::1',
    ]) {
      const [record, prefixLength] = secondOpinion.getWithPrefixLength(text) as [{ city: string } | null, number];
      const found = mmdb.find(parseAddress(text)!);
      expect(found && [found.facts.city, found.prefixLength]).toEqual(record && [record.city, prefixLength]);
    }
    expect(mmdb.find(parseAddress('81.2.69.1')!)).toMatchObject({ facts: { city: 'Narrow' }, prefixLength: 24 });
    expect(mmdb.find(parseAddress('81.2.68.1')!)).toMatchObject({ facts: { city: 'Wide' }, prefixLength: 24 });
    expect(mmdb.find(parseAddress('2a00:1450:1::')!)).toMatchObject({ facts: { city: 'Wide' }, prefixLength: 32 });
    expect(mmdb.find(parseAddress('82.0.0.1')!)).toBeNull();
  });

  it('carries every type of value', () => {
    const writer = createMmdbWriter(options);
    const long = 'ä'.repeat(40_000);
    const record = {
      text: 'x',
      'a long key': long,
      small: 0,
      large: 4_294_967_295,
      real: -1.5,
      yes: true,
      no: false,
      list: [1, 'two', { three: 3 }],
    };
    writer.addNetwork(Uint8Array.of(81, 0, 0, 0), 8, writer.addRecord(record));

    expect(new Reader<Response>(writer.toBuffer()).get('81.0.0.1')).toEqual(record);
  });

  it('is dated and described', async () => {
    expect(await readMmdb(makeFile())).toMatchObject({
      databaseType: 'Test-City',
      buildDate: '2026-05-28',
      description: 'made by a test',
    });
  });

  it('has no answer for IPv6 when it is one of IPv4', async () => {
    const mmdb = await readMmdb(makeFile({ ipVersion: 4 }));

    expect(mmdb.find(parseAddress('81.2.69.1')!)).toMatchObject({ facts: { city: 'Narrow' } });
    // The first 32 bits of this IPv6 address are those of 81.2.69.1.
    expect(mmdb.find(parseAddress('5102:4501::')!)).toBeNull();
  });
});

describe('a file that is damaged', () => {
  const good = makeFile();
  const changed = (change: (file: Buffer) => void) => {
    const file = Buffer.from(good);
    change(file);
    return file;
  };

  it.each([
    ['empty', Buffer.alloc(0)],
    ['something else', Buffer.from('<!doctype html><title>401 Unauthorized</title>')],
    ['cut off', good.subarray(0, good.length - 200)],
    ['cut off within the metadata', good.subarray(0, good.length - 30)],
    ['without its beginning', good.subarray(600)],
    ['with a node that points outside', changed((file) => file.fill(0xfe, 6 * 20, 6 * 20 + 6))],
    [
      'with a node that points into the separator',
      changed((file) => file.writeUIntBE(nodeCountOf(good) + 3, 6 * 20, 3)),
    ],
    [
      'with text where records were',
      changed((file) => file.fill(0x41, nodeCountOf(good) * 6 + 16, file.indexOf('MaxMind.com') - 3)),
    ],
    [
      'with a separator that is none',
      changed((file) => file.fill(1, nodeCountOf(good) * 6, nodeCountOf(good) * 6 + 16)),
    ],
  ])('is refused: %s', async (_, file) => {
    await expect(readMmdb(file)).rejects.toThrow();
  });

  it('is refused for one node of thousands, wherever it is', async () => {
    const writer = createMmdbWriter(options);
    const record = writer.addRecord({ city: 'Wide' });
    for (let i = 0; i < 20_000; i += 1) writer.addNetwork(Uint8Array.of(81, i >> 8, i & 0xff, 0), 24, record);
    const large = writer.toBuffer();
    const nodes = nodeCountOf(large);
    expect(nodes).toBeGreaterThan(20_000);

    for (const node of [0, 1000, 4321, 12_345, nodes - 1]) {
      for (const value of [nodes + 3, 0xff_fff0]) {
        const file = Buffer.from(large);
        file.writeUIntBE(value, node * 6, 3);
        await expect(readMmdb(file)).rejects.toThrow(`node ${node} points outside the file`);
      }
    }
  });

  it('never makes a look-up throw, whichever byte has changed', async () => {
    const addresses = ['81.2.69.1', '81.3.0.1', '2a00:1450::1', '9.9.9.9'].map((text) => parseAddress(text)!);
    let readable = 0;
    // The nodes are encoded alike, so only every seventh of their bytes is changed: with six bytes a node, each
    // position within a node is hit.
    for (let at = 0; at < good.length; at += at < nodeCountOf(good) * 6 - 7 ? 7 : 1) {
      const file = changed((copy) => (copy[at] = copy[at]! ^ 0xff));
      const mmdb = await readMmdb(file).catch(() => null);
      if (mmdb === null) continue;
      readable += 1;
      for (const address of addresses) mmdb.find(address);
    }
    expect(readable).toBeGreaterThan(0);
  });
});

describe('a file that stays on disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mmdb-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, content: Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  it.each([24, 28, 32] as const)(
    'answers as one in memory, %d bits a side, with more pages than are kept',
    async (recordBits) => {
      const { content, addresses } = makeLarge(recordBits);
      const [whole, onDisk] = [await readMmdb(content), await openMmdb(write(`${recordBits}.mmdb`, content))];
      const found = addresses.map((address) => onDisk.find(address));

      // Jest's own comparison is slow for so many values.
      expect(addresses.filter((address, at) => !isDeepStrictEqual(found[at], whole.find(address)))).toEqual([]);
      expect(found.filter((one) => one !== null).length).toBeGreaterThanOrEqual(20_000);
      await onDisk.close();
    },
  );

  it.each([10, 300, 505, 600, 5_000, 70_000])('has the whole of a record with a text of %d bytes', async (bytes) => {
    const writer = createMmdbWriter(options);
    const record = writer.addRecord({ note: 'n'.repeat(bytes), city: 'Behind', country_code: 'DE' });
    writer.addNetwork(Uint8Array.of(81, 0, 0, 0), 8, record);
    writer.addNetwork(Uint8Array.of(82, 0, 0, 0), 8, writer.addRecord({ city: 'Last' }));
    const onDisk = await openMmdb(write(`${bytes}.mmdb`, writer.toBuffer()));
    const found = ['81.2.69.1', '82.0.0.1'].map((text) => onDisk.find(parseAddress(text)!)?.facts);

    expect(found).toMatchObject([{ city: 'Behind', countryCode: 'DE' }, { city: 'Last' }]);
    await onDisk.close();
  });

  it('never makes a look-up throw, whichever byte of it has changed', async () => {
    const good = makeFile();
    const addresses = ['81.2.69.1', '81.3.0.1', '2a00:1450::1', '9.9.9.9'].map((text) => parseAddress(text)!);
    let readable = 0;
    // Only bytes behind the tree are changed: the tree is read by the same code as in memory, for which a test above
    // changes its bytes.
    for (let position = nodeCountOf(good) * 6; position < good.length; position += 1) {
      const file = Buffer.from(good);
      file[position] = file[position]! ^ 0xff;
      const mmdb = await openMmdb(write('changed.mmdb', file)).catch(() => null);
      if (mmdb === null) continue;
      readable += 1;
      for (const address of addresses) mmdb.find(address);
      await mmdb.close();
    }
    expect(readable).toBeGreaterThan(0);
  });

  it('is refused if it is cut off or its nodes point outside', async () => {
    const good = makeFile();
    const bad = Buffer.from(good);
    bad.fill(0xfe, 6 * 20, 6 * 20 + 6);

    await expect(openMmdb(write('cut.mmdb', good.subarray(0, good.length - 200)))).rejects.toThrow('cut off');
    await expect(openMmdb(write('bad.mmdb', bad))).rejects.toThrow('node 20 points outside the file');
    await expect(openMmdb(join(folder, 'absent.mmdb'))).rejects.toThrow('ENOENT');
  });

  it('throws at a look-up that needs what is no more', async () => {
    const { content, addresses } = makeLarge(24);
    const path = write('shorter.mmdb', content);
    const mmdb = await openMmdb(path);
    truncateSync(path, 10_000);

    expect(() => addresses.map((address) => mmdb.find(address))).toThrow('became shorter');
    await mmdb.close();
  });
});

/** A tree of more pages than the cache holds, and addresses spread over it. */
function makeLarge(recordBits: 24 | 28 | 32): { readonly content: Buffer; readonly addresses: readonly Address[] } {
  const writer = createMmdbWriter({ ...options, recordBits });
  const records = Array.from({ length: 50 }, (_, index) => writer.addRecord({ city: `City ${index}` }));
  let state = 1;
  const byte = (): number => (state = (state * 48_271) % 2_147_483_647) & 0xff;
  const networks = Array.from({ length: 20_000 }, () => Array.from({ length: 16 }, (_, at) => (at < 8 ? byte() : 0)));
  for (const [at, network] of networks.entries()) writer.addNetwork(Uint8Array.from(network), 64, records[at % 50]!);
  for (let top = 1; top < 224; top += 1) {
    writer.addNetwork(Uint8Array.of(top, byte(), byte(), 0), 24, records[top % 50]!);
  }
  const addresses: readonly Address[] = [
    ...networks.map((bytes) => ({ family: 6, bytes: Uint8Array.from(bytes), text: '' }) as const),
    ...Array.from(
      { length: 20_000 },
      () => ({ family: 4, bytes: Uint8Array.of(byte(), byte(), byte(), byte()), text: '' }) as const,
    ),
  ];
  return { content: writer.toBuffer(), addresses };
}

function nodeCountOf(file: Buffer): number {
  return new Reader<Response>(file).metadata.nodeCount;
}
