import { MessageFormatError, type Reader } from '@vantage/contract/dns-message';
import { recordTypeCodes, type RecordTypeName } from './record-types.ts';

import { dnssecData } from './rdata-dnssec.ts';
import { locationData } from './rdata-loc.ts';
import { rareData } from './rdata-rare.ts';
import { obsoleteData } from './rdata-obsolete.ts';
import { serviceBindingData } from './rdata-svcb.ts';

import { base64Groups, hex, hexGroups, ipv4Text, ipv6Text, quoted } from './text.ts';

/** Formats the data of a record as `dig` does. */
export type Present = (data: Reader) => string;

const CLASS_IN = 1;

/**
 * The data of a record in presentation format. Unknown types, and classes other than IN, use the form of RFC 3597
 * section 5.
 *
 * @throws MessageFormatError if the data violates the type's format or has octets left over
 */
export function presentData(typeCode: number, classCode: number, data: Reader): string {
  const present = classCode === CLASS_IN ? presenters.get(typeCode) : undefined;
  if (present === undefined) return presentUnknown(data);
  const text = present(data);
  if (data.remaining() > 0) throw new MessageFormatError('a record has more data than its type says');
  return text;
}

/** The data of a record of an unknown type, in hexadecimal (RFC 3597 section 5). */
export function presentUnknown(data: Reader): string {
  const bytes = data.rest();
  return bytes.length === 0 ? '\\# 0' : `\\# ${bytes.length} ${hexGroups(bytes)}`;
}

const name: Present = (data) => data.name();

const numberAndName: Present = (data) => `${data.u16()} ${data.name()}`;

const texts: Present = (data) => {
  const strings = [quoted(data.characterString())];
  while (data.remaining() > 0) strings.push(quoted(data.characterString()));
  return strings.join(' ');
};

/** Presents TLSA and SMIMEA records (RFC 6698 section 2.2, RFC 8162). */
const tlsAssociation: Present = (data) => `${data.u8()} ${data.u8()} ${data.u8()} ${hexGroups(some(data))}`;

const eui =
  (octets: number): Present =>
  (data) =>
    [...data.take(octets)].map((octet) => hex(Uint8Array.of(octet)).toLowerCase()).join('-');

const byName: Partial<Record<RecordTypeName, Present>> = {
  A: (data) => ipv4Text(data.take(4)),
  AAAA: (data) => ipv6Text(data.take(16)),
  AFSDB: numberAndName,
  // Flags, tag and value (RFC 8659 section 4.1.1).
  CAA: (data) => `${data.u8()} ${asciiTag(data.characterString())} ${quoted(data.rest())}`,
  CERT: (data) => `${certificateType(data.u16())} ${data.u16()} ${keyAlgorithm(data.u8())} ${base64Groups(some(data))}`,
  CNAME: name,
  DNAME: name,
  EUI48: eui(6),
  EUI64: eui(8),
  HINFO: (data) => `${quoted(data.characterString())} ${quoted(data.characterString())}`,
  KX: numberAndName,
  MX: numberAndName,
  // Order, preference, flags, services, regular expression and replacement (RFC 3403 section 4.1).
  NAPTR: (data) => {
    const numbers = `${data.u16()} ${data.u16()}`;
    const strings = [data.characterString(), data.characterString(), data.characterString()].map(quoted);
    return `${numbers} ${strings.join(' ')} ${data.name()}`;
  },
  NS: name,
  OPENPGPKEY: (data) => base64Groups(some(data)),
  PTR: name,
  RP: (data) => `${data.name()} ${data.name()}`,
  SMIMEA: tlsAssociation,
  SOA: (data) => `${data.name()} ${data.name()} ${data.u32()} ${data.u32()} ${data.u32()} ${data.u32()} ${data.u32()}`,
  SPF: texts,
  SRV: (data) => `${data.u16()} ${data.u16()} ${data.u16()} ${data.name()}`,
  SSHFP: (data) => `${data.u8()} ${data.u8()} ${hexGroups(some(data))}`,
  TLSA: tlsAssociation,
  TXT: texts,
  // Priority, weight and target (RFC 7553 section 4.5).
  URI: (data) => `${data.u16()} ${data.u16()} ${quoted(data.rest())}`,
  LOC: locationData,
  HTTPS: serviceBindingData,
  SVCB: serviceBindingData,
  ...dnssecData,
  ...rareData,
  ...obsoleteData,
};

const presenters: ReadonlyMap<number, Present> = new Map(
  Object.entries(byName).map(([type, present]) => [recordTypeCodes[type as RecordTypeName], present]),
);

/** The rest of the data, which must not be empty. */
function some(data: Reader): Uint8Array {
  if (data.remaining() === 0) throw new MessageFormatError('a record ends before its last field');
  return data.rest();
}

function asciiTag(tag: Uint8Array): string {
  const text = Buffer.from(tag).toString('latin1');
  if (!/^[0-9A-Za-z]+$/.test(text)) throw new MessageFormatError('a CAA tag is made of ASCII letters and digits');
  return text;
}

/** Mnemonic of a certificate type (RFC 4398 section 2.1). */
function certificateType(type: number): string {
  const mnemonics: Readonly<Record<number, string>> = {
    1: 'PKIX',
    2: 'SPKI',
    3: 'PGP',
    4: 'IPKIX',
    5: 'ISPKI',
    6: 'IPGP',
    7: 'ACPKIX',
    8: 'IACPKIX',
    253: 'URI',
    254: 'OID',
  };
  return mnemonics[type] ?? String(type);
}

/** Mnemonic of a DNSSEC algorithm as `dig` has it, from RFC 4034 appendix A.1 and the registry of IANA. */
function keyAlgorithm(algorithm: number): string {
  const mnemonics: Readonly<Record<number, string>> = {
    1: 'RSAMD5',
    2: 'DH',
    3: 'DSA',
    5: 'RSASHA1',
    6: 'NSEC3DSA',
    7: 'NSEC3RSASHA1',
    8: 'RSASHA256',
    10: 'RSASHA512',
    12: 'ECCGOST',
    13: 'ECDSAP256SHA256',
    14: 'ECDSAP384SHA384',
    15: 'ED25519',
    16: 'ED448',
    252: 'INDIRECT',
    253: 'PRIVATEDNS',
    254: 'PRIVATEOID',
  };
  return mnemonics[algorithm] ?? String(algorithm);
}
