import type { Reader } from './reader.ts';

const OPTION_NSID = 3;
const OPTION_EXTENDED_ERROR = 15;

export interface ExtendedError {
  /** The INFO-CODE, whose values RFC 8914 section 5.2 registers. */
  readonly code: number;
  /** EXTRA-TEXT; untrusted and unescaped. */
  readonly text: string;
}

/** Contents of an OPT record: RFC 6891 section 6.1. */
export interface Edns {
  readonly version: number;
  readonly udpBytes: number;
  readonly dnssecOk: boolean;
  /** Upper eight bits of the extended rcode. */
  readonly upperRcode: number;
  /** RFC 5001: opaque octets; `null` without the option. */
  readonly nsid: Uint8Array | null;
  readonly extendedErrors: readonly ExtendedError[];
}

/**
 * @param classCode class field of the record: the sender's UDP payload size
 * @param ttl TTL field of the record: upper rcode bits, version and flags
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
