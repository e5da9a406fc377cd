import { MessageFormatError, type Reader } from '@vantage/contract/dns-message';
import { recordTypeName, type RecordTypeName } from './record-types.ts';

import { base32Hex, base64Groups, hex, hexGroups } from './text.ts';

const key = (data: Reader): string => `${data.u16()} ${data.u8()} ${data.u8()} ${base64Groups(data.rest())}`;

const digest = (data: Reader): string => `${data.u16()} ${data.u8()} ${data.u8()} ${hexGroups(data.rest())}`;

/** Formats the data of the DNSSEC types: RFC 4034, RFC 5155, RFC 7344, RFC 7477, RFC 8976. */
export const dnssecData = {
  DNSKEY: key,
  CDNSKEY: key,
  DS: digest,
  CDS: digest,
  CSYNC: (data) => joined(String(data.u32()), String(data.u16()), typeBitmap(data)),
  NSEC: (data) => joined(data.name(), typeBitmap(data)),
  NSEC3: (data) => {
    const parameters = `${data.u8()} ${data.u8()} ${data.u16()} ${salt(data)}`;
    return joined(parameters, base32Hex(data.characterString()), typeBitmap(data));
  },
  NSEC3PARAM: (data) => `${data.u8()} ${data.u8()} ${data.u16()} ${salt(data)}`,
  RRSIG: signature,
  // The format is that of RRSIG (RFC 2931).
  SIG: signature,
  ZONEMD: (data) => `${data.u32()} ${data.u8()} ${data.u8()} ${hexGroups(data.rest())}`,
} satisfies Partial<Record<RecordTypeName, (data: Reader) => string>>;

function signature(data: Reader): string {
  const covered = recordTypeName(data.u16());
  const numbers = `${data.u8()} ${data.u8()} ${data.u32()}`;
  const times = `${signatureTime(data.u32())} ${signatureTime(data.u32())}`;
  return `${covered} ${numbers} ${times} ${data.u16()} ${data.name()} ${base64Groups(data.rest())}`;
}

function joined(...fields: readonly string[]): string {
  return fields.filter((field) => field !== '').join(' ');
}

function salt(data: Reader): string {
  const octets = data.characterString();
  return octets.length === 0 ? '-' : hex(octets);
}

/** Types of a bitmap: blocks of 256 in ascending order, each with 1 to 32 octets (RFC 4034 section 4.1.2). */
function typeBitmap(data: Reader): string {
  const names: string[] = [];
  let last = -1;
  while (data.remaining() > 0) {
    const block = data.u8();
    const length = data.u8();
    if (block <= last || length === 0 || length > 32) throw new MessageFormatError('a type bitmap is malformed');
    last = block;
    for (const [at, octet] of data.take(length).entries()) {
      for (let bit = 0; bit < 8; bit++) {
        if ((octet & (0x80 >> bit)) !== 0) names.push(recordTypeName(block * 256 + at * 8 + bit));
      }
    }
  }
  return names.join(' ');
}

/**
 * `YYYYMMDDHHmmSS`. The 32 bits are serial numbers (RFC 4034 section 3.1.5): of the possible times, the one nearest to
 * now applies.
 */
function signatureTime(seconds: number): string {
  const now = Date.now() / 1000;
  const wraps = Math.round((now - seconds) / 0x1_00_00_00_00);
  const time = new Date((seconds + wraps * 0x1_00_00_00_00) * 1000);
  return time.toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '');
}
