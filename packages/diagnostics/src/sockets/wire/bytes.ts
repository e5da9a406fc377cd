/** Big-endian 16 bits; the caller has checked the length. */
export function readU16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 8) | bytes[offset + 1]!;
}

export function readU32(bytes: Uint8Array, offset: number): number {
  return readU16(bytes, offset) * 0x10000 + readU16(bytes, offset + 2);
}

export function writeU16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = (value >> 8) & 0xff;
  bytes[offset + 1] = value & 0xff;
}

export function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  writeU16(bytes, offset, value >>> 16);
  writeU16(bytes, offset + 2, value & 0xffff);
}
