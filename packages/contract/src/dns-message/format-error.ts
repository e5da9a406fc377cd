/** A message that violates RFC 1035 or the RFC of a record type. Decoding throws nothing else. */
export class MessageFormatError extends Error {
  override readonly name = 'MessageFormatError';
}
