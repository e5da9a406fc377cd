import { addressText } from '@vantage/contract/address';

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

/** Information of a router about one of its interfaces or a next hop (RFC 5837). */
export interface InterfaceObject {
  readonly role: 'incoming' | 'sub-ip' | 'outgoing' | 'next-hop';
  readonly index: number | null;
  readonly address: string | null;
  readonly name: string | null;
  readonly mtu: number | null;
}

export interface Extensions {
  /** Bytes before the extension structure: the quoted packet, padded with zeros. */
  readonly quotedBytes: number;
  readonly mpls: readonly MplsEntry[];
  readonly interfaces: readonly InterfaceObject[];
}

/** Routers that predate RFC 4884 put the structure after 128 bytes without stating a length (section 5.5). */
const UNSTATED_BYTES = 128;
const MAX_MPLS_ENTRIES = 16;
/** Maximum interfaces of a message: one for each role. */
const MAX_INTERFACES = 4;

/**
 * Finds the extension structure (RFC 4884 section 7) after the quoted packet; undefined if there is none. Never throws.
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
  const objects = objectsOf(structure);
  return {
    quotedBytes,
    mpls: objects.filter(isMplsStack).flatMap(stackOf).slice(0, MAX_MPLS_ENTRIES),
    interfaces: objects.flatMap((object) => interfaceOf(object) ?? []).slice(0, MAX_INTERFACES),
  };
}

interface ExtensionObject {
  readonly classNumber: number;
  readonly subtype: number;
  readonly payload: Uint8Array;
}

function objectsOf(structure: Uint8Array): ExtensionObject[] {
  const objects: ExtensionObject[] = [];
  let offset = 4;
  while (offset + 4 <= structure.length) {
    const bytes = readU16(structure, offset);
    if (bytes < 4 || offset + bytes > structure.length) break;
    const payload = structure.subarray(offset + 4, offset + bytes);
    objects.push({ classNumber: structure[offset + 2]!, subtype: structure[offset + 3]!, payload });
    offset += bytes;
  }
  return objects;
}

function isMplsStack({ classNumber, subtype }: ExtensionObject): boolean {
  return classNumber === 1 && subtype === 1;
}

/**
 * The entries of an MPLS label stack (RFC 3032 section 2.1): label (20 bits), traffic class (3), bottom of stack (1),
 * TTL (8).
 */
function stackOf({ payload: bytes }: ExtensionObject): MplsEntry[] {
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

const INTERFACE_INFORMATION = 2;
const roles = ['incoming', 'sub-ip', 'outgoing', 'next-hop'] as const;
/** Bits of the subtype: which fields follow, in this order. */
const HAS = { index: 8, address: 4, name: 2, mtu: 1 } as const;
/** Address family numbers (IANA), with the bytes of an address. */
const addressBytes: ReadonlyMap<number, number> = new Map([
  [1, 4],
  [2, 16],
]);

/**
 * Reads an Interface Information Object (RFC 5837 section 4); undefined for another object, an unknown address family,
 * and fields that exceed the object.
 */
function interfaceOf({ classNumber, subtype, payload }: ExtensionObject): InterfaceObject | undefined {
  if (classNumber !== INTERFACE_INFORMATION) return undefined;
  let rest = payload;
  const take = (bytes: number): Uint8Array | undefined => {
    const taken = rest.length < bytes ? undefined : rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return taken;
  };
  const index = (subtype & HAS.index) === 0 ? null : take(4);
  const family = (subtype & HAS.address) === 0 ? null : take(4);
  const ofFamily = family === null || family === undefined ? undefined : addressBytes.get(readU16(family, 0));
  const address = family === null ? null : ofFamily === undefined ? undefined : take(ofFamily);
  // The length of a name counts its own byte and the padding.
  const name = (subtype & HAS.name) === 0 ? null : take(Math.max(1, rest[0] ?? 0));
  const mtu = (subtype & HAS.mtu) === 0 ? null : take(4);
  if (index === undefined || address === undefined || name === undefined || mtu === undefined) return undefined;
  return {
    role: roles[subtype >> 6]!,
    index: index === null ? null : readU32(index, 0),
    address: address === null ? null : addressText(address),
    name: name === null ? null : Buffer.from(name.subarray(1)).toString('utf8').replace(/\0+$/, ''),
    mtu: mtu === null ? null : readU32(mtu, 0),
  };
}
