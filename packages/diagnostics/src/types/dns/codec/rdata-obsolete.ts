import { MessageFormatError, type Reader } from '@vantage/contract/dns-message';
import { recordTypeName, type RecordTypeName } from './record-types.ts';

import { base64, base64Groups, hex, hexGroups, ipv4Text, ipv6Text, quoted } from './text.ts';

/**
 * Formats the data of types that are obsolete or remained drafts, as `dig` does. RFC 1035 section 3.4.2 (WKS), 1706
 * (NSAP), 2065 (NXT), 2874 (A6), af-saa-0069 (ATMA), draft-lewis-dns-undocumented-types (EID, NIMLOC),
 * draft-eastlake-kitchen-sink (SINK), draft-durand-doa-over-dns (DOA).
 */
export const obsoleteData = {
  A6: addressPart,
  ATMA: atmAddress,
  DOA: (data) => {
    const [enterprise, type, location] = [data.u32(), data.u32(), data.u8()];
    const mediaType = quoted(data.characterString());
    return `${enterprise} ${type} ${location} ${mediaType} ${base64(data.rest()) || '-'}`;
  },
  EID: hexadecimal,
  NIMLOC: hexadecimal,
  NSAP: (data) => `0x${hex(some(data)).toLowerCase()}`,
  NXT: (data) => [data.name(), ...numbersOf(data.rest()).map(recordTypeName)].join(' '),
  SINK: (data) => {
    const fields = [data.u8(), data.u8(), data.u8(), base64Groups(data.rest())];
    return fields.filter((field) => field !== '').join(' ');
  },
  WKS: (data) => [ipv4Text(data.take(4)), data.u8(), ...numbersOf(data.rest())].join(' '),
} satisfies Partial<Record<RecordTypeName, (data: Reader) => string>>;

function hexadecimal(data: Reader): string {
  return hexGroups(some(data));
}

/**
 * Formats the data of A6 (RFC 2874 section 3.1): the bits of an address after a prefix, and the name whose address has
 * those of the prefix.
 */
function addressPart(data: Reader): string {
  const prefixBits = data.u8();
  if (prefixBits > 128) throw new MessageFormatError('a prefix of an A6 record is longer than an address');
  const suffix = data.take(16 - Math.floor(prefixBits / 8));
  const address = new Uint8Array(16);
  address.set(suffix, 16 - suffix.length);
  const text = suffix.length === 0 ? '' : ipv6Text(address);
  return prefixBits === 0 ? `0 ${text}` : `${prefixBits} ${text} ${data.name()}`;
}

const E164 = 1;

function atmAddress(data: Reader): string {
  const format = data.u8();
  const bytes = some(data);
  if (format !== E164) return hex(bytes).toLowerCase();
  const digits = Buffer.from(bytes).toString('latin1');
  if (!/^\d+$/.test(digits)) throw new MessageFormatError('an E.164 number has digits alone');
  return `+${digits}`;
}

/** The numbers of the bits that are set; bit 0 is the highest bit of the first octet. */
function numbersOf(bitmap: Uint8Array): number[] {
  return [...bitmap].flatMap((octet, at) =>
    Array.from({ length: 8 }, (_, bit) => bit)
      .filter((bit) => (octet & (0x80 >> bit)) !== 0)
      .map((bit) => at * 8 + bit),
  );
}

function some(data: Reader): Uint8Array {
  if (data.remaining() === 0) throw new MessageFormatError('a record ends before its last field');
  return data.rest();
}
