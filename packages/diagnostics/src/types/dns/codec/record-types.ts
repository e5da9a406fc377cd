import { nearestWord } from '@vantage/contract';

/**
 * Data types of the IANA registry of DNS resource record types. Data of types unknown to the codec uses the form of
 * RFC 3597 section 5.
 */
const codes = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  NSAP: 22,
  'NSAP-PTR': 23,
  SIG: 24,
  KEY: 25,
  PX: 26,
  GPOS: 27,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  EID: 31,
  NIMLOC: 32,
  SRV: 33,
  ATMA: 34,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  A6: 38,
  DNAME: 39,
  SINK: 40,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  NINFO: 56,
  RKEY: 57,
  TALINK: 58,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  DSYNC: 66,
  HHIT: 67,
  BRID: 68,
  SPF: 99,
  UINFO: 100,
  UID: 101,
  GID: 102,
  UNSPEC: 103,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  URI: 256,
  CAA: 257,
  AVC: 258,
  DOA: 259,
  AMTRELAY: 260,
  RESINFO: 261,
  WALLET: 262,
  CLA: 263,
  IPN: 264,
  TA: 32768,
  DLV: 32769,
} as const;

export type RecordTypeName = keyof typeof codes;

/** Codes of the known record types by mnemonic. */
export const recordTypeCodes: Readonly<Record<RecordTypeName, number>> = codes;

const namesByCode: ReadonlyMap<number, string> = new Map(Object.entries(codes).map(([name, code]) => [code, name]));

export interface RecordType {
  readonly code: number;
  /** Mnemonic in upper case, or `TYPE<n>` (RFC 3597 section 5). */
  readonly name: string;
}

export type ParsedRecordType =
  | { readonly ok: true; readonly recordType: RecordType }
  | { readonly ok: false; readonly reason: string };

/** The mnemonic of a type; `TYPE<n>` for unknown ones. */
export function recordTypeName(code: number): string {
  return namesByCode.get(code) ?? `TYPE${code}`;
}

/** Reads the name of a record type, upper or lower case. Refuses query and meta types (RFC 6895 section 3.1). */
export function parseRecordType(text: string): ParsedRecordType {
  const name = text.toUpperCase();
  if (refusedNames.has(name)) return refused(name);
  const known: number | undefined = Object.hasOwn(codes, name) ? codes[name as RecordTypeName] : undefined;
  const code = known ?? numberedType(name);
  if (code === undefined) {
    const meant = meantBy(name);
    const hint = meant === undefined ? 'Use a name such as A, AAAA or MX, or TYPE<number>.' : `Did you mean ${meant}?`;
    return { ok: false, reason: `There is no such record type. ${hint}` };
  }
  if (isMetaType(code)) return refused(name);
  return { ok: true, recordType: { code, name: recordTypeName(code) } };
}

/**
 * The record type that a misspelt name is taken for: the nearest by `nearestWord`; else one with the two letters
 * swapped, or MX, NS or DS with one letter too many.
 */
function meantBy(name: string): string | undefined {
  const names = Object.keys(codes);
  const swapped = name.length === 2 ? `${name[1]}${name[0]}` : undefined;
  return (
    nearestWord(name, names) ??
    names.find((known) => known === swapped) ??
    ['MX', 'NS', 'DS'].find((known) => name.length === 3 && withoutOneLetter(name).includes(known))
  );
}

function withoutOneLetter(name: string): readonly string[] {
  return Array.from({ length: name.length }, (_, at) => name.slice(0, at) + name.slice(at + 1));
}

/** ANY and zone transfers serve amplification and harvesting; the rest carry no data of a name. */
const refusedNames: ReadonlySet<string> = new Set([
  'ANY',
  'ALL',
  '*',
  'AXFR',
  'IXFR',
  'MAILA',
  'MAILB',
  'OPT',
  'TSIG',
  'TKEY',
  // Only type bitmaps have it; a query for it is a format error (RFC 9824 section 3.5).
  'NXNAME',
]);

function refused(name: string): ParsedRecordType {
  return { ok: false, reason: `${name} cannot be asked for: it is a query or meta type, not a type of records.` };
}

function numberedType(name: string): number | undefined {
  const digits = /^TYPE(\d{1,5})$/.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const code = Number(digits);
  return code <= 0xff_ff ? code : undefined;
}

/**
 * The reserved types 0 and 65535, 41 (OPT), and the range of QTYPEs and meta types, 128 to 255 (RFC 6895 section 3.1).
 */
function isMetaType(code: number): boolean {
  return code === 0 || code === 41 || (code >= 128 && code <= 255) || code === 0xff_ff;
}
