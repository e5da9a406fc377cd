/** A message that violates RFC 1035, RFC 6891 or the RFC of a record type. */
export class MessageFormatError extends Error {
  override readonly name = 'MessageFormatError';
}
