/** A message that breaks the format of RFC 1035 or of the record's own RFC. The only thing that decoding throws. */
export class MessageFormatError extends Error {
  override readonly name = 'MessageFormatError';
}
