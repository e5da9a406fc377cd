import type { Reader } from './reader.ts';

const OPTION_NSID = 3;
const OPTION_EXTENDED_ERROR = 15;

export interface ExtendedError {
  /** RFC 8914 section 5.2. */
  readonly code: number;
  /** What the resolver says besides; raw, from outside. */
  readonly text: string;
}

/** What an OPT record says: RFC 6891 section 6.1. */
export interface Edns {
  readonly version: number;
  readonly udpBytes: number;
  readonly dnssecOk: boolean;
  /** The upper eight bits of the rcode. */
  readonly upperRcode: number;
  /** RFC 5001: opaque octets; `null` where the option is missing. */
  readonly nsid: Uint8Array | null;
  readonly extendedErrors: readonly ExtendedError[];
}

/**
 * @param classCode the record's class field, which holds the sender's UDP payload size
 * @param ttl the record's TTL field, which holds upper rcode, version and flags
 * @throws MessageFormatError
 */
export function decodeEdns(classCode: number, ttl: number, data: Reader): Edns {
  let nsid: Uint8Array | null = null;
  const extendedErrors: ExtendedError[] = [];
  while (data.remaining() > 0) {
    const code = data.u16();
    const option = data.slice(data.u16());
    if (code === OPTION_NSID) nsid = option.rest();
    if (code === OPTION_EXTENDED_ERROR) {
      const errorCode = option.u16();
      extendedErrors.push({ code: errorCode, text: Buffer.from(option.rest()).toString('utf8') });
    }
  }
  return {
    version: (ttl >>> 16) & 0xff,
    udpBytes: classCode,
    dnssecOk: (ttl & 0x80_00) !== 0,
    upperRcode: ttl >>> 24,
    nsid,
    extendedErrors,
  };
}
