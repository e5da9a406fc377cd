/** Thrown for bytes that are not DER, or not the expected structure. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** A DER value: its identifier octet, content, and complete encoding. Nothing is copied. */
export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  enumerated: 0x0a,
  generalizedTime: 0x18,
  sequence: 0x30,
} as const;

/** The identifier octet of a context-specific value (X.690 section 8.1.2.2). */
export function contextTag(number: number, constructed = true): number {
  return 0x80 | (constructed ? 0x20 : 0) | number;
}

/**
 * The value with this tag that fills the bytes.
 *
 * @throws DerError for another tag, several values or malformed bytes
 */
export function onlyValue(bytes: Uint8Array, tag: number): DerValue {
  const [value, ...more] = valuesOf(bytes, 1);
  if (value?.tag !== tag || more.length > 0) throw new DerError(`There is no value with tag ${tag} alone.`);
  return value;
}

/**
 * Splits bytes into consecutive values without recursion: the caller limits the depth, and so the work for untrusted
 * input.
 *
 * @param atMost limit of values
 * @throws DerError for more values or malformed bytes
 */
export function valuesOf(bytes: Uint8Array, atMost: number): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    if (values.length === atMost) throw new DerError(`There are more than ${atMost} values.`);
    const value = valueAt(bytes.subarray(at));
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

/**
 * An object identifier in its dotted form (X.690 section 8.19).
 *
 * @throws DerError for another tag, and for an identifier that is empty, cut off or too long, or has too large an arc
 */
export function oidOf({ tag, content }: DerValue): string {
  if (tag !== tags.oid || content.length === 0 || content.length > MAX_OID_BYTES)
    throw new DerError('There is no OID.');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (arc > Number.MAX_SAFE_INTEGER / 128) throw new DerError('An arc of the OID is too large.');
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  if (content.at(-1)! >= 0x80) throw new DerError('The OID breaks off.');
  const [first = 0, ...rest] = arcs;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join('.');
}

/**
 * A GeneralizedTime in the one form that RFC 5280 section 4.1.2.5.2 allows: `YYYYMMDDHHMMSSZ`.
 *
 * @throws DerError for any other form, and for a time that does not exist
 */
export function timeOf({ tag, content }: DerValue): Date {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(Buffer.from(content).toString('latin1'));
  if (tag !== tags.generalizedTime || parts === null) throw new DerError('There is no time.');
  const [year, month, day, hour, minute, second] = parts.slice(1);
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const date = new Date(text);
  // `Date` takes 30 February for a day of March, and hour 24 for the next day.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== text) throw new DerError('There is no such time.');
  return date;
}

/**
 * The bytes of a BIT STRING whose length is a multiple of eight bits.
 *
 * @throws DerError for any other value
 */
export function bitsOf(value: DerValue | undefined): Uint8Array {
  if (value?.tag !== tags.bitString || value.content[0] !== 0) throw new DerError('The bits are no bytes.');
  return value.content.subarray(1);
}

const MAX_OID_BYTES = 32;
/** Maximum number of octets of a length: longer values would exceed every buffer. */
const MAX_LENGTH_BYTES = 4;

function valueAt(bytes: Uint8Array): DerValue {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new DerError('A value breaks off.');
  if ((tag & 0x1f) === 0x1f) throw new DerError('There is a tag of several bytes.');
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  // X.690 section 10.1: DER has no indefinite length.
  if (first === 0x80 || lengthBytes > MAX_LENGTH_BYTES) throw new DerError('A length is not allowed.');
  let length = first;
  if (lengthBytes > 0) length = bytes.subarray(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
  const start = 2 + lengthBytes;
  if (start + length > bytes.length) throw new DerError('A value is longer than what holds it.');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}
