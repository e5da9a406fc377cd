import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { readAsnCsv, type AsnRange } from './asn-csv.ts';
import { createMmdbWriter, type MmdbWriter } from '../mmdb/mmdb-writer.ts';
import { readMmdb } from '../mmdb/mmdb.ts';
import { asnPackageFolder } from '../sources/package-folders.ts';
import { defaultAsnFile } from '../sources/sources.ts';

export interface BuildAsnOptions {
  /** Folder of `@ip-location-db/asn`; default: the installed package. */
  readonly source?: string | undefined;
  /** The file to write; by default the one that `openGeo` reads. */
  readonly target?: string | undefined;
}

/**
 * Converts the tables of networks in `@ip-location-db/asn` to one MMDB file. Does nothing if the file exists with the
 * same version of the data and the same layout. Atomic: the file is written completely or not at all.
 *
 * @throws {Error} if the tables are missing or damaged, or the file cannot be written
 */
export async function buildAsn(options: BuildAsnOptions = {}): Promise<'built' | 'up to date'> {
  const source = options.source ?? asnPackageFolder();
  const target = options.target ?? defaultAsnFile();
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { readonly version: string };
  const description = `@ip-location-db/asn ${version}, layout ${LAYOUT}`;
  if ((await descriptionOf(target)) === description) return 'up to date';

  const writer = createMmdbWriter({
    databaseType: 'ip-location-db-ASN',
    description,
    ipVersion: 6,
    buildEpoch: epochOf(version),
  });
  const recordOf = createRecords(writer);
  for (const [file, bytes] of TABLES) {
    for (const range of readAsnCsv(await readFile(join(source, file), 'utf8'))) {
      const record = recordOf(range);
      for (const [prefix, length] of networksOf(range, bytes)) writer.addNetwork(prefix, length, record);
    }
  }
  await writeWhole(target, writer.toBuffer());
  return 'built';
}

/** Incremented when this code writes different contents from the same data. */
const LAYOUT = 1;

const TABLES = [
  ['asn-ipv4-num.csv', 4],
  ['asn-ipv6-num.csv', 16],
] as const;

/** The description in an MMDB file; `null` for a missing or damaged file, which must be built. */
async function descriptionOf(path: string): Promise<string | null> {
  try {
    return (await readMmdb(await readFile(path))).description;
  } catch {
    return null;
  }
}

/**
 * Time of the data, seconds since the epoch: the last number of a version such as 2.3.2026061719 is its hour, UTC. 0
 * for a version of another form.
 */
function epochOf(version: string): number {
  const [, year, month, day, hour] = /\.([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})$/.exec(version) ?? [];
  return Math.max(0, Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour)) / 1000) || 0;
}

/** One record for each pair of AS number and name, in MaxMind's layout of ASN files, however many ranges it has. */
function createRecords(writer: MmdbWriter): (range: AsnRange) => number {
  const records = new Map<string, number>();
  return ({ asn, name }) => {
    const key = `${asn} ${name}`;
    let record = records.get(key);
    if (record === undefined) {
      record = writer.addRecord({ autonomous_system_number: asn, autonomous_system_organization: name });
      records.set(key, record);
    }
    return record;
  };
}

/** The fewest CIDR prefixes that make up the range, in order. */
function* networksOf({ start, end }: AsnRange, bytes: 4 | 16): Generator<readonly [Uint8Array, number]> {
  const bits = bytes * 8;
  for (let from = start; from <= end;) {
    let size = from === 0n ? 1n << BigInt(bits) : from & -from;
    let length = bits - (size.toString(2).length - 1);
    while (from + size - 1n > end) {
      size >>= 1n;
      length += 1;
    }
    yield [bytesOf(from, bytes), length];
    from += size;
  }
}

function bytesOf(value: bigint, bytes: 4 | 16): Uint8Array {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 4) buffer.writeUInt32BE(Number(value));
  else {
    buffer.writeBigUInt64BE(value >> 64n);
    buffer.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, 8);
  }
  return buffer;
}

async function writeWhole(path: string, contents: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(unfinished, 'w');
    try {
      await file.writeFile(contents);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

if (import.meta.main) {
  const started = performance.now();
  const outcome = await buildAsn();
  process.stdout.write(`Table of networks: ${outcome} (${Math.round(performance.now() - started)} ms)\n`);
}
