import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Reader, type AsnResponse } from 'mmdb-lib';

import { buildAsn } from './build-asn.ts';

describe('the table of networks', () => {
  let source: string;
  let target: string;

  beforeEach(async () => {
    source = await mkdtemp(join(tmpdir(), 'geo-asn-'));
    target = join(source, 'built', 'asn.mmdb');
    await putVersion('2.3.2026061719');
    await putTables(
      // 81.2.69.1 – 81.2.69.6, 81.2.69.7 – 81.2.70.255, and a range that overlaps its end.
      '1359103233,1359103238,64500,Example Transit\n1359103239,1359103743,64501,"Example ""Cable"", Inc."\n' +
        '1359103488,1359103999,64502,Example Hosting\n',
      '55827987809411540836515382960316219392,55827987888639703350779720553860169727,64503,Example Six\n',
    );
  });

  afterEach(() => rm(source, { recursive: true }));

  const putVersion = (version: string) => writeFile(join(source, 'package.json'), JSON.stringify({ version }));
  async function putTables(v4: string, v6: string): Promise<void> {
    await writeFile(join(source, 'asn-ipv4-num.csv'), v4);
    await writeFile(join(source, 'asn-ipv6-num.csv'), v6);
  }
  const build = () => buildAsn({ source, target });
  const open = async () => new Reader<AsnResponse>(await readFile(target));

  it('answers for both ends of every range and for nothing outside it', async () => {
    expect(await build()).toBe('built');

    const reader = await open();
    const asnOf = (address: string) => reader.get(address)?.autonomous_system_number;
    expect(['81.2.69.0', '81.2.69.1', '81.2.69.6', '81.2.69.7', '81.2.69.255'].map(asnOf)).toEqual([
      undefined,
      64500,
      64500,
      64501,
      64501,
    ]);
    expect(['2a00:1450::', '2a00:1450:ffff:ffff:ffff:ffff:ffff:ffff', '2a00:1451::'].map(asnOf)).toEqual([
      64503,
      64503,
      undefined,
    ]);
    expect(reader.get('81.2.69.8')?.autonomous_system_organization).toBe('Example "Cable", Inc.');
  });

  it('gives an address in two ranges to the one that starts later', async () => {
    await build();

    const reader = await open();
    expect(reader.get('81.2.70.0')?.autonomous_system_number).toBe(64502);
    expect(reader.get('81.2.71.255')?.autonomous_system_number).toBe(64502);
  });

  it('makes networks as wide as the range allows', async () => {
    await build();

    const reader = await open();
    expect(reader.getWithPrefixLength('81.2.69.4')[1]).toBe(31);
    expect(reader.getWithPrefixLength('81.2.69.200')[1]).toBe(25);
    expect(reader.getWithPrefixLength('2a00:1450::1')[1]).toBe(32);
  });

  it('is built again only when the data has another version, or the file is damaged', async () => {
    await build();
    const { mtimeMs } = await stat(target);

    expect(await build()).toBe('up to date');
    expect((await stat(target)).mtimeMs).toBe(mtimeMs);

    await putVersion('2.3.2026061819');
    expect(await build()).toBe('built');

    await writeFile(target, (await readFile(target)).subarray(0, 300));
    expect(await build()).toBe('built');
  });

  it('has the same bytes whenever it is built, and the date of its data', async () => {
    await build();
    const first = await readFile(target);
    await rm(target);
    await build();

    expect(first.equals(await readFile(target))).toBe(true);
    expect((await open()).metadata.buildEpoch.toISOString()).toBe('2026-06-17T19:00:00.000Z');
  });

  it.each([
    ['a row of another form', '1359103233,1359103238,Example Transit\n'],
    ['a range that ends before it starts', '1359103238,1359103233,64500,Example Transit\n'],
    ['ranges out of order', '1359103233,1359103238,64500,A\n1359103000,1359103001,64500,A\n'],
  ])('keeps the old file when the new data has %s', async (_, table) => {
    await build();
    const old = await readFile(target);
    await putVersion('2.3.2026061819');
    await putTables(table, '');

    await expect(build()).rejects.toThrow(/line \d/);

    expect(old.equals(await readFile(target))).toBe(true);
    expect(await readdir(join(source, 'built'))).toEqual(['asn.mmdb']);
  });
});
