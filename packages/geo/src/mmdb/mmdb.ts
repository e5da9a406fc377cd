import { Reader, type Response } from 'mmdb-lib';

import type { Address } from '../address.ts';
import { label, readFacts, type Facts } from '../facts.ts';
import { openTree, type MmdbTree } from './mmdb-tree.ts';
import { createRecentMap } from '../recent-map.ts';

/** One MMDB file in memory. */
export interface Mmdb {
  /** What the file calls itself, such as `GeoLite2-City`. */
  readonly databaseType: string;
  /** Day of the build, ISO 8601 date. */
  readonly buildDate: string | null;
  readonly description: string | null;
  /** Never throws; a record that cannot be read is none. */
  readonly find: (address: Address) => Found | null;
}

export interface Found {
  readonly facts: Facts;
  /** Bits of the network in the file's tree that holds the address, counted in the address's own family. */
  readonly prefixLength: number;
}

/**
 * Reads an MMDB file (MaxMind DB file format 2.0), refusing one that is cut off or damaged: a file is often read while it
 * is being copied, and `mmdb-lib` alone finds out in the middle of a look-up, if at all.
 *
 * @throws {Error} saying what is wrong with the file
 */
export async function readMmdb(buffer: Buffer): Promise<Mmdb> {
  const reader = openReader(buffer);
  const { metadata } = reader;
  const tree = openTree(buffer, metadata);
  await verify(tree, reader, buffer);
  const recent = createRecentMap<number, Facts>(FACTS_KEPT);

  function factsAt(value: number): Facts | null {
    const known = recent.get(value);
    if (known !== undefined) return known;
    const record = recordAt(reader, value);
    if (record === null) return null;
    const facts = readFacts(record);
    recent.set(value, facts);
    return facts;
  }

  return {
    databaseType: label(metadata.databaseType) ?? 'MMDB',
    buildDate: dateOf(metadata.buildEpoch),
    description: label(Object(metadata.description)['en']),
    find(address) {
      const hit = tree.find(address);
      const facts = hit === null ? null : factsAt(hit.value);
      return hit === null || facts === null ? null : { facts, prefixLength: hit.prefixLength };
    },
  };
}

/** Records of one file that are kept as facts: places and networks that come again and again. */
const FACTS_KEPT = 16_384;

/** Bytes at the end of a file in which the metadata must begin (file format 2.0, "Database Metadata"). */
const METADATA_MAX_BYTES = 128 * 1024;
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const SEPARATOR_BYTES = 16;

function openReader(buffer: Buffer): Reader<Response> {
  const tail = Math.max(0, buffer.length - METADATA_MAX_BYTES - METADATA_MARKER.length);
  const marker = buffer.subarray(tail).lastIndexOf(METADATA_MARKER);
  if (marker === -1) throw new Error('no MMDB metadata at its end: not an MMDB file, or cut off');
  const reader = new Reader<Response>(buffer, { cache: createTextCache() });
  const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = reader.metadata;
  if (binaryFormatMajorVersion !== 2) throw new Error(`MMDB format ${binaryFormatMajorVersion} is not known`);
  if (ipVersion !== 4 && ipVersion !== 6) throw new Error(`IP version ${String(ipVersion)} is not known`);
  if (!Number.isSafeInteger(nodeCount) || nodeCount < 1) throw new Error('its search tree is empty');
  if (searchTreeSize + SEPARATOR_BYTES > tail + marker) throw new Error('its search tree is longer than the file');
  const separator = buffer.subarray(searchTreeSize, searchTreeSize + SEPARATOR_BYTES);
  if (separator.some((byte) => byte !== 0)) throw new Error('its search tree does not end where its metadata says');
  return reader;
}

/** Keeps what `mmdb-lib` finds behind pointers when it is a text: the keys of all records, and frequent names. */
function createTextCache(): {
  get: (offset: string | number) => unknown;
  set: (offset: string | number, value: unknown) => void;
} {
  const texts = createRecentMap<string | number, unknown>(1024);
  return {
    get: (offset) => texts.get(offset),
    set(offset, cursor) {
      if (typeof Object(cursor)['value'] === 'string') texts.set(offset, cursor);
    },
  };
}

/** Nodes that are read between two turns of the event loop, some milliseconds' worth. */
const NODES_PER_TURN = 50_000;

/** Records of the data section that are decoded for a trial. */
const TRIAL_RECORDS = 2000;

/** Reads every node, and decodes a sample of what they point to. */
async function verify(tree: MmdbTree, reader: Reader<Response>, buffer: Buffer): Promise<void> {
  const { nodeCount, searchTreeSize } = reader.metadata;
  const firstRecord = nodeCount + SEPARATOR_BYTES;
  const endOfRecords = nodeCount + buffer.lastIndexOf(METADATA_MARKER) - searchTreeSize;
  const stride = Math.ceil((nodeCount * 2) / TRIAL_RECORDS);
  let untilTrial = 0;
  for (let node = 0; node < nodeCount; node += 1) {
    if (node % NODES_PER_TURN === NODES_PER_TURN - 1) await new Promise(setImmediate);
    for (const value of tree.sidesOf(node)) {
      untilTrial -= 1;
      if (value <= nodeCount) continue;
      if (value < firstRecord || value >= endOfRecords) throw new Error(`node ${node} points outside the file`);
      if (untilTrial > 0) continue;
      untilTrial = stride;
      if (recordAt(reader, value) === null) throw new Error(`node ${node} points to no record`);
    }
  }
}

function recordAt(reader: Reader<Response>, value: number): object | null {
  try {
    // Private in the types alone; the public way goes through the text of an address.
    const record: unknown = reader['resolveDataPointer'](value);
    return typeof record === 'object' && !Array.isArray(record) ? record : null;
  } catch {
    // Damaged, where the trial did not look: the address has no data here.
    return null;
  }
}

function dateOf(time: unknown): string | null {
  return time instanceof Date && !Number.isNaN(time.getTime()) && time.getTime() > 0
    ? time.toISOString().slice(0, 10)
    : null;
}
