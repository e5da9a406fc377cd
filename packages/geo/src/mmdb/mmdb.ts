import { open, type FileHandle } from 'node:fs/promises';

import { LRUCache } from 'lru-cache';
import { parseMetadata, type Metadata } from 'mmdb-lib/lib/metadata.js';

import type { Address } from '../address.ts';
import { label, readFacts, type Facts } from '../facts.ts';
import { readPages } from './mmdb-pages.ts';
import { decodeFromFile, decodeInMemory, SEPARATOR_BYTES, UnreadableFile, type DecodeAt } from './mmdb-records.ts';
import { openTree, type MmdbTree, type TreeBytes } from './mmdb-tree.ts';

export interface Mmdb {
  /** Type in the file's metadata, such as `GeoLite2-City`. */
  readonly databaseType: string;
  /** Day of the build, ISO 8601 date; null if the metadata has no valid one. */
  readonly buildDate: string | null;
  readonly description: string | null;
  /** A damaged record counts as missing. */
  readonly find: (address: Address) => Found | null;
}

export interface Found {
  readonly facts: Facts;
  /** Prefix length of the matching network in the address's own family. */
  readonly prefixLength: number;
}

/**
 * Reads an MMDB file (MaxMind DB file format 2.0). Rejects one whose metadata, search tree or sample of records is
 * damaged, such as a file that is being copied.
 *
 * @throws {Error} with the fault of the file
 */
export async function readMmdb(buffer: Buffer): Promise<Mmdb> {
  const { metadata, recordsEnd } = readMetadata(buffer, buffer.length);
  const rest = buffer.subarray(metadata.searchTreeSize);
  const separator = rest.subarray(0, SEPARATOR_BYTES);
  const parts = openParts({ metadata, recordsEnd, separator, tree: { buffer }, decodeAt: decodeInMemory(rest) });
  await verify(parts, 1);
  return createMmdb(parts);
}

/**
 * Opens a file that does not change, such as one of the bundled data: it stays on disk, and only a sample of it is
 * verified. A lookup throws if the file becomes unreadable.
 *
 * @throws {Error} with the fault of the file
 */
export async function openMmdb(path: string): Promise<Mmdb & { readonly close: () => Promise<void> }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const end = await readRange(file, Math.max(0, size - METADATA_MAX_BYTES), size);
    const { metadata, recordsEnd } = readMetadata(end, size);
    const from = metadata.searchTreeSize;
    const separator = await readRange(file, from, from + SEPARATOR_BYTES);
    const decodeAt = decodeFromFile(file.fd, { from, to: from + recordsEnd });
    const parts = openParts({ metadata, recordsEnd, separator, tree: readPages(file.fd, metadata), decodeAt });
    await verify(parts, Math.ceil(metadata.nodeCount / TRIAL_NODES));
    return { ...createMmdb(parts), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(to - from);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  if (bytesRead !== buffer.length) throw new Error('it became shorter while it was read');
  return buffer;
}

interface Parts {
  readonly metadata: Metadata;
  readonly tree: MmdbTree;
  /** Offset behind the last record, from the end of the tree. */
  readonly recordsEnd: number;
  readonly recordAt: (value: number) => object | null;
}

interface Sections extends Pick<Parts, 'metadata' | 'recordsEnd'> {
  readonly tree: TreeBytes;
  readonly separator: Buffer;
  readonly decodeAt: DecodeAt;
}

function openParts({ metadata, recordsEnd, tree, separator, decodeAt }: Sections): Parts {
  if (separator.some((byte) => byte !== 0)) throw new Error('its search tree does not end where its metadata says');
  return {
    metadata,
    tree: openTree(tree, metadata),
    recordsEnd,
    recordAt: (value) => {
      try {
        const record = decodeAt(value - metadata.nodeCount);
        return typeof record === 'object' && !Array.isArray(record) ? record : null;
      } catch (error) {
        if (error instanceof UnreadableFile || isSystemError(error)) throw error;
        // Damaged outside of the verified sample: the address has no data here.
        return null;
      }
    },
  };
}

function createMmdb({ metadata, tree, recordAt }: Parts): Mmdb {
  const recent = new LRUCache<number, Facts>({ max: FACTS_KEPT });

  function factsAt(value: number): Facts | null {
    const known = recent.get(value);
    if (known !== undefined) return known;
    const record = recordAt(value);
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

/** Limit of cached records per file: the same places and networks recur. */
const FACTS_KEPT = 4_096;

/** Bytes at the end of a file in which the metadata must begin (file format 2.0, "Database Metadata"). */
const METADATA_MAX_BYTES = 128 * 1024;
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

/** @param end the last bytes of the file, or all of it */
function readMetadata(end: Buffer, fileBytes: number): Pick<Parts, 'metadata' | 'recordsEnd'> {
  const tail = Math.max(0, end.length - METADATA_MAX_BYTES - METADATA_MARKER.length);
  const marker = end.subarray(tail).lastIndexOf(METADATA_MARKER);
  if (marker === -1) throw new Error('no MMDB metadata at its end: not an MMDB file, or cut off');
  const metadata = parseMetadata(end);
  const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = metadata;
  if (binaryFormatMajorVersion !== 2) throw new Error(`MMDB format ${binaryFormatMajorVersion} is not known`);
  if (ipVersion !== 4 && ipVersion !== 6) throw new Error(`IP version ${String(ipVersion)} is not known`);
  if (!Number.isSafeInteger(nodeCount) || nodeCount < 1) throw new Error('its search tree is empty');
  const markerAt = fileBytes - end.length + tail + marker;
  if (searchTreeSize + SEPARATOR_BYTES > markerAt) throw new Error('its search tree is longer than the file');
  return { metadata, recordsEnd: markerAt - searchTreeSize };
}

/** True for an error of a system call, such as `EIO` from the disk. */
function isSystemError(error: unknown): boolean {
  return Error.isError(error) && 'syscall' in error;
}

/** Number of nodes that are read in one turn of the event loop, which takes some milliseconds. */
const NODES_PER_TURN = 50_000;

/** Limit of the records of the data section that are decoded as a sample. */
const TRIAL_RECORDS = 2000;
/**
 * Limit of the nodes of a bundled file that are verified, each by a read. Truncation is noticed by the missing metadata
 * at the end.
 */
const TRIAL_NODES = 200;

/** Verifies one of `every` nodes, and decodes a sample of the records that they point to. */
async function verify({ metadata, tree, recordsEnd, recordAt }: Parts, every: number): Promise<void> {
  const { nodeCount } = metadata;
  const stride = Math.ceil((nodeCount * 2) / TRIAL_RECORDS);
  let untilTrial = 0;
  for (let node = 0, read = 1; node < nodeCount; node += every, read += 1) {
    if (read % NODES_PER_TURN === 0) await new Promise(setImmediate);
    for (const value of tree.sidesOf(node)) {
      untilTrial -= every;
      if (value <= nodeCount) continue;
      const isOutside = value < nodeCount + SEPARATOR_BYTES || value >= nodeCount + recordsEnd;
      if (isOutside) throw new Error(`node ${node} points outside the file`);
      if (untilTrial > 0) continue;
      untilTrial = stride;
      if (recordAt(value) === null) throw new Error(`node ${node} points to no record`);
    }
  }
}

function dateOf(time: unknown): string | null {
  return time instanceof Date && !Number.isNaN(time.getTime()) && time.getTime() > 0
    ? time.toISOString().slice(0, 10)
    : null;
}
