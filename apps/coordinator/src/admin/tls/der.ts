/** The parts of DER (ITU-T X.690) of which a certificate is made. */
export const der = {
  sequence: (...parts: readonly Buffer[]): Buffer => element(0x30, ...parts),
  set: (...parts: readonly Buffer[]): Buffer => element(0x31, ...parts),
  /** @param bytes of a positive number, most significant first */
  integer: (bytes: Buffer): Buffer => {
    const first = bytes.findIndex((byte) => byte !== 0);
    const shortest = first < 0 ? Buffer.of(0) : bytes.subarray(first);
    // A leading bit would make it negative.
    return element(0x02, shortest[0]! < 0x80 ? shortest : Buffer.concat([Buffer.of(0), shortest]));
  },
  true: (): Buffer => element(0x01, Buffer.of(0xff)),
  /** @param text such as `2.5.29.19` */
  oid: (text: string): Buffer => {
    const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
    return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
  },
  octets: (...parts: readonly Buffer[]): Buffer => element(0x04, ...parts),
  /** @param unused bits at the end that do not count */
  bits: (bytes: Buffer, unused = 0): Buffer => element(0x03, Buffer.of(unused), bytes),
  text: (text: string): Buffer => element(0x0c, Buffer.from(text)),
  /** Until 2049 as UTCTime, from then on as GeneralizedTime (RFC 5280 section 4.1.2.5). */
  time: (at: Date): Buffer => {
    const digits = `${at.toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
    return at.getUTCFullYear() < 2050
      ? element(0x17, Buffer.from(digits.slice(2)))
      : element(0x18, Buffer.from(digits));
  },
  /** `[number]`, around what is in it or in place of its own tag. */
  context: (number: number, constructed: boolean, ...parts: readonly Buffer[]): Buffer =>
    element((constructed ? 0xa0 : 0x80) + number, ...parts),
};

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  return bytes < 0x1_00 ? Buffer.of(0x81, bytes) : Buffer.of(0x82, bytes >> 8, bytes & 0xff);
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}
