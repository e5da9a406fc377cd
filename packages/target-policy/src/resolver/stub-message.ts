import {
  MessageFormatError,
  readMessage,
  type Message,
  type Presentation,
  type Reader,
} from '@vantage/contract/dns-message';

import { formatAddress } from '../addresses/address.ts';

/**
 * Reads a message; undefined if it is malformed. Only the record data that the resolution of targets needs is decoded.
 */
export function readOrNothing(bytes: Uint8Array): Message | undefined {
  try {
    return readMessage(bytes, presentation);
  } catch (error) {
    if (!(error instanceof MessageFormatError)) throw error;
    return undefined;
  }
}

type Written = (data: Reader) => string;

const writtenName: Written = (data) => data.name();
const address =
  (family: 4 | 6): Written =>
  (data) =>
    formatAddress({ family, value: BigInt(`0x${Buffer.from(data.take(family === 4 ? 4 : 16)).toString('hex')}`) });

const formats: ReadonlyMap<number, { readonly name: string; readonly write: Written }> = new Map([
  [1, { name: 'A', write: address(4) }],
  [2, { name: 'NS', write: writtenName }],
  [5, { name: 'CNAME', write: writtenName }],
  [6, { name: 'SOA', write: (data) => `${data.rest().length}` }],
  [12, { name: 'PTR', write: writtenName }],
  [28, { name: 'AAAA', write: address(6) }],
  [39, { name: 'DNAME', write: writtenName }],
  [46, { name: 'RRSIG', write: signatureHead }],
  [47, { name: 'NSEC', write: (data) => `${data.rest().length}` }],
  [50, { name: 'NSEC3', write: (data) => `${data.u8()} ${data.u8()} ${data.rest().length}` }],
]);

/** The fields of an RRSIG record up to the original TTL (RFC 4034 section 3.2), and the number of bytes after them. */
function signatureHead(data: Reader): string {
  const [code, algorithm, labels, ttl] = [data.u16(), data.u8(), data.u8(), data.u32()];
  return `${typeName(code)} ${algorithm} ${labels} ${ttl} ${data.rest().length}`;
}

function typeName(code: number): string {
  return formats.get(code)?.name ?? `TYPE${code}`;
}

const presentation: Presentation = {
  typeName,
  data: (code, _class, data) => {
    const text = formats.get(code)?.write(data) ?? `${data.rest().length}`;
    if (data.remaining() > 0) throw new MessageFormatError('a record has more data than its type says');
    return text;
  },
  unknown: () => '',
};
