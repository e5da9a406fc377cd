const HEADER_BYTES = 12;

/**
 * True for a response with the query's id and question, compared without case (RFC 5452 section 9.1). A server that
 * could not parse the question may omit it from a response with an error rcode, without answer and authority records.
 */
export function isAnswerTo(bytes: Uint8Array, query: Uint8Array, nameBytes: number): boolean {
  if (bytes.length < HEADER_BYTES || bytes[0] !== query[0] || bytes[1] !== query[1]) return false;
  const isResponse = (bytes[2]! & 0x80) !== 0;
  const opcode = (bytes[2]! >> 3) & 0x0f;
  if (!isResponse || opcode !== 0) return false;
  const questions = bytes[4]! * 0x1_00 + bytes[5]!;
  const records = bytes.subarray(6, 10).some((octet) => octet !== 0);
  if (questions === 0) return (bytes[3]! & 0x0f) !== 0 && !records;
  const end = HEADER_BYTES + nameBytes + 4;
  if (questions !== 1 || bytes.length < end) return false;
  for (let at = HEADER_BYTES; at < end; at++) {
    const isName = at < HEADER_BYTES + nameBytes;
    const [given, wanted] = [bytes[at]!, query[at]!];
    if (isName ? lowerCase(given) !== lowerCase(wanted) : given !== wanted) return false;
  }
  return true;
}

/**
 * Lowers an octet of a name: only ASCII letters have case (RFC 4343). Length octets of labels, at most 63, are below
 * them.
 */
function lowerCase(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet;
}
