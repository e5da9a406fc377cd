import { MessageFormatError, type Reader, createReader } from '@vantage/contract/dns-message';
import { recordTypeName, type RecordTypeName } from './record-types.ts';

import { base64Groups, hex, hexGroups, ipv4Text, ipv6Text, quoted } from './text.ts';

const name = (data: Reader): string => data.name();

const twoNames = (data: Reader): string => `${data.name()} ${data.name()}`;

const key = (data: Reader): string => joined(`${data.u16()} ${data.u8()} ${data.u8()}`, base64Groups(data.rest()));

const digest = (data: Reader): string => `${data.u16()} ${data.u8()} ${data.u8()} ${hexGroups(data.rest())}`;

const texts = (data: Reader): string => {
  const strings = [quoted(data.characterString())];
  while (data.remaining() > 0) strings.push(quoted(data.characterString()));
  return strings.join(' ');
};

const octets = (data: Reader): string => base64Groups(data.rest());

/** A preference, and a 64-bit node identifier or locator: four groups without `::` (RFC 6742 sections 2.1 and 2.3). */
const locator64 = (data: Reader): string =>
  `${data.u16()} ${[data.u16(), data.u16(), data.u16(), data.u16()].map((group) => group.toString(16)).join(':')}`;

/**
 * Formats the data of rare types: RFC 1035, 1183, 1706, 1712, 2163, 2535, 3123, 4025, 4431, 4701, 6742, 8005, 8777,
 * 9606, 9859; AVC, BRID, HHIT, NINFO, RKEY, TA, TALINK and WALLET by their entries in the registry of IANA.
 */
export const rareData = {
  AMTRELAY: relay,
  APL: prefixes,
  AVC: texts,
  BRID: octets,
  DHCID: octets,
  DLV: digest,
  // Type, scheme, port and target (RFC 9859 section 2.1).
  DSYNC: (data) => `${recordTypeName(data.u16())} ${scheme(data.u8())} ${data.u16()} ${data.name()}`,
  GPOS: texts,
  HHIT: octets,
  HIP: hostIdentity,
  IPSECKEY: (data) => {
    const [precedence, kind, algorithm] = [data.u8(), data.u8(), data.u8()];
    const gateway = gatewayOf(data, kind);
    return joined(`${precedence} ${kind} ${algorithm} ${gateway}`, base64Groups(data.rest()));
  },
  ISDN: texts,
  KEY: key,
  L32: (data) => `${data.u16()} ${ipv4Text(data.take(4))}`,
  L64: locator64,
  LP: (data) => `${data.u16()} ${data.name()}`,
  MB: name,
  MD: name,
  MF: name,
  MG: name,
  MINFO: twoNames,
  MR: name,
  NID: locator64,
  NINFO: texts,
  'NSAP-PTR': name,
  PX: (data) => `${data.u16()} ${data.name()} ${data.name()}`,
  // The format is that of TXT (RFC 9606 section 4).
  RESINFO: texts,
  RKEY: key,
  RT: (data) => `${data.u16()} ${data.name()}`,
  TA: digest,
  TALINK: twoNames,
  WALLET: texts,
  X25: texts,
} satisfies Partial<Record<RecordTypeName, (data: Reader) => string>>;

/** Name of a scheme of DSYNC (RFC 9859 section 6.2). */
function scheme(number: number): string {
  return number === 1 ? 'NOTIFY' : String(number);
}

function joined(...fields: readonly string[]): string {
  return fields.filter((field) => field !== '').join(' ');
}

/**
 * The gateway of IPSECKEY (RFC 4025 section 2.5) or the relay of AMTRELAY (RFC 8777 section 4.2.4): nothing, an IPv4 or
 * IPv6 address, or a name.
 */
function gatewayOf(data: Reader, kind: number): string {
  if (kind === 0) return '.';
  if (kind === 1) return ipv4Text(data.take(4));
  if (kind === 2) return ipv6Text(data.take(16));
  if (kind === 3) return data.name();
  throw new MessageFormatError('a gateway is of an unknown kind');
}

function relay(data: Reader): string {
  const precedence = data.u8();
  const bits = data.u8();
  return `${precedence} ${bits >> 7} ${bits & 0x7f} ${gatewayOf(data, bits & 0x7f)}`;
}

/**
 * Formats the data of HIP (RFC 8005 section 5): the identity as hexadecimal, the key as base64, and rendezvous servers.
 */
function hostIdentity(data: Reader): string {
  const identityBytes = data.u8();
  const algorithm = data.u8();
  const keyBytes = data.u16();
  const fields = [
    String(algorithm),
    hex(data.take(identityBytes)),
    Buffer.from(data.take(keyBytes)).toString('base64'),
  ];
  while (data.remaining() > 0) fields.push(data.name());
  return fields.join(' ');
}

const IPV4 = 1;
const IPV6 = 2;

/**
 * Formats the prefixes of APL (RFC 3123 section 5). With an unknown address family, the record uses the form of RFC
 * 3597.
 */
function prefixes(data: Reader): string {
  const bytes = data.rest();
  const items = createReader(bytes);
  const shown: string[] = [];
  while (items.remaining() > 0) {
    const family = items.u16();
    const length = items.u8();
    const bits = items.u8();
    const address = items.take(bits & 0x7f);
    if (family !== IPV4 && family !== IPV6) return `\\# ${bytes.length} ${hexGroups(bytes)}`;
    const octets = family === IPV4 ? 4 : 16;
    if (address.length > octets) throw new MessageFormatError('an address prefix is longer than an address');
    const whole = new Uint8Array(octets);
    whole.set(address);
    shown.push(
      `${bits >> 7 === 1 ? '!' : ''}${family}:${family === IPV4 ? ipv4Text(whole) : ipv6Text(whole)}/${length}`,
    );
  }
  return shown.join(' ');
}
