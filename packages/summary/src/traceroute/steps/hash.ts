const [OFFSET, PRIME] = [0xcbf29ce484222325n, 0x100000001b3n];

/** 64-bit FNV-1a as hexadecimal digits. */
export function hashOf(text: string): string {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  }
  return hash.toString(16).padStart(16, '0');
}
