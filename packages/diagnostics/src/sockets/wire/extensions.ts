import { readU16, readU32 } from './bytes.ts';
import { onesComplementSum } from './checksum.ts';

/** One entry of an MPLS label stack as a router received it (RFC 4950). */
export interface MplsEntry {
  readonly label: number;
  /** Traffic class, once called EXP (RFC 5462). */
  readonly trafficClass: number;
  readonly bottomOfStack: boolean;
  readonly ttl: number;
}

export interface Extensions {
  /** Bytes before the extension structure: the quoted packet, padded with zeros. */
  readonly quotedBytes: number;
  readonly mpls: readonly MplsEntry[];
}

/** Routers that predate RFC 4884 put the structure after 128 bytes without stating a length (section 5.5). */
const UNSTATED_BYTES = 128;
const MAX_MPLS_ENTRIES = 16;

/**
 * Finds the extension structure (RFC 4884 section 7) after the quoted packet; undefined if there is none. Total.
 *
 * @param body the ICMP message after its header of eight bytes
 * @param statedBytes length of the quotation according to the header; 0 if not stated
 */
export function parseExtensions(body: Uint8Array, statedBytes: number): Extensions | undefined {
  const quotedBytes = statedBytes === 0 ? UNSTATED_BYTES : statedBytes;
  const structure = body.subarray(quotedBytes);
  if (structure.length < 8 || structure[0]! >> 4 !== 2) return undefined;
  // A zero checksum means that none was computed; without a stated length, only a correct checksum proves an extension
  // structure.
  const unchecked = readU16(structure, 2) === 0 && statedBytes !== 0;
  if (!unchecked && onesComplementSum(structure) !== 0xffff) return undefined;
  return { quotedBytes, mpls: mplsEntries(structure) };
}

function mplsEntries(structure: Uint8Array): MplsEntry[] {
  const entries: MplsEntry[] = [];
  let offset = 4;
  while (offset + 4 <= structure.length) {
    const objectBytes = readU16(structure, offset);
    if (objectBytes < 4 || offset + objectBytes > structure.length) break;
    const isMplsStack = structure[offset + 2] === 1 && structure[offset + 3] === 1;
    if (isMplsStack) entries.push(...stack(structure.subarray(offset + 4, offset + objectBytes)));
    offset += objectBytes;
  }
  return entries.slice(0, MAX_MPLS_ENTRIES);
}

/** RFC 3032 section 2.1: label (20 bits), traffic class (3), bottom of stack (1), TTL (8). */
function stack(bytes: Uint8Array): MplsEntry[] {
  const entries: MplsEntry[] = [];
  for (let offset = 0; offset + 4 <= bytes.length; offset += 4) {
    const word = readU32(bytes, offset);
    const low = word % 0x1000;
    entries.push({
      label: Math.floor(word / 0x1000),
      trafficClass: low >> 9,
      bottomOfStack: ((low >> 8) & 1) === 1,
      ttl: low & 0xff,
    });
  }
  return entries;
}
