import { MessageFormatError } from './format-error.ts';

/** RFC 1035 section 2.3.4: maximum octets of a name on the wire, including length octets and the root. */
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;

/**
 * Decodes a name at `offset`. Each compression pointer must point before the start of the current part, which
 * guarantees termination for any input (RFC 9267 section 2).
 *
 * @param end bound for the part before the first pointer
 * @returns the fully qualified name in presentation form and the offset after it
 * @throws MessageFormatError
 */
export function decodeName(
  message: Uint8Array,
  offset: number,
  end: number,
): { readonly text: string; readonly next: number } {
  let at = offset;
  let bound = end;
  let earliest = offset;
  let next: number | undefined;
  let text = '';
  let bytes = 1;
  for (;;) {
    if (at >= bound) throw new MessageFormatError('a name runs past its bound');
    const length = message[at]!;
    if (length === 0) return { text: text === '' ? '.' : text, next: next ?? at + 1 };
    if (length >= 0xc0) {
      if (at + 1 >= bound) throw new MessageFormatError('a compression pointer runs past its bound');
      const pointer = (length - 0xc0) * 0x1_00 + message[at + 1]!;
      if (pointer >= earliest) throw new MessageFormatError('a compression pointer does not lead backwards');
      next ??= at + 2;
      earliest = pointer;
      at = pointer;
      bound = message.length;
      continue;
    }
    if (length > MAX_LABEL_BYTES) throw new MessageFormatError('a label has a reserved type');
    if (at + 1 + length > bound) throw new MessageFormatError('a label runs past its bound');
    bytes += length + 1;
    if (bytes > MAX_NAME_BYTES) throw new MessageFormatError('a name has more than 255 octets');
    text += `${escapeLabel(message.subarray(at + 1, at + 1 + length))}.`;
    at += 1 + length;
  }
}

/**
 * Encodes a name without compression. Accepts the escapes of RFC 1035 section 5.1, `\DDD` and `\X`.
 *
 * @param text with or without the final dot; `.` and `''` are the root
 * @throws RangeError for an empty or overlong label, a name of more than 255 octets, non-ASCII characters, or an escape
 *   that denotes no octet
 */
export function encodeName(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const label of splitLabels(text)) {
    if (label.length === 0 || label.length > MAX_LABEL_BYTES) throw new RangeError('a label has 1 to 63 octets');
    bytes.push(label.length, ...label);
  }
  bytes.push(0);
  if (bytes.length > MAX_NAME_BYTES) throw new RangeError('a name has at most 255 octets');
  return Uint8Array.from(bytes);
}

/**
 * Owner name of an address's PTR records: RFC 1035 section 3.5, RFC 3596 section 2.5.
 *
 * @param address 4 or 16 octets
 */
export function reverseName(address: Uint8Array): string {
  const bytes = [...address].toReversed();
  if (bytes.length === 4) return `${bytes.join('.')}.in-addr.arpa.`;
  return `${bytes.map((byte) => `${(byte & 0x0f).toString(16)}.${(byte >> 4).toString(16)}`).join('.')}.ip6.arpa.`;
}

/** Characters with a meaning in zone files get a backslash; spaces and octets that are not printable ASCII `\DDD`. */
function escapeLabel(label: Uint8Array): string {
  let text = '';
  for (const byte of label) {
    if (byte <= 0x20 || byte >= 0x7f) text += `\\${String(byte).padStart(3, '0')}`;
    else if (SPECIAL.has(byte)) text += `\\${String.fromCharCode(byte)}`;
    else text += String.fromCharCode(byte);
  }
  return text;
}

const SPECIAL: ReadonlySet<number> = new Set(Array.from('"$().;@\\', (character) => character.charCodeAt(0)));

function splitLabels(text: string): number[][] {
  if (text === '' || text === '.') return [];
  const labels: number[][] = [[]];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) throw new RangeError('a name is given in ASCII');
    if (text[at] === '.') {
      labels.push([]);
      continue;
    }
    if (text[at] !== '\\') {
      labels.at(-1)!.push(code);
      continue;
    }
    const digits = /^\d{3}/.exec(text.slice(at + 1, at + 4))?.[0];
    const octet = digits === undefined ? text.charCodeAt(at + 1) : Number(digits);
    if (!(octet <= 0xff)) throw new RangeError('an escape stands for one octet');
    labels.at(-1)!.push(octet);
    at += digits === undefined ? 1 : 3;
  }
  // The part behind the final dot, which may be absent.
  return labels.at(-1)!.length === 0 ? labels.slice(0, -1) : labels;
}
