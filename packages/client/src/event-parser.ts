/** A field of an event stream that affects the client. */
export type StreamPart =
  | { readonly kind: 'event'; readonly name: string; readonly data: string; readonly id: string }
  | { readonly kind: 'retry'; readonly milliseconds: number };

/**
 * Parses an event stream (HTML standard, section 9.2.6): lines end in CR, LF or CRLF, and chunks may split anywhere.
 *
 * @returns a function that takes the next chunk and returns the completed parts
 */
export function createEventParser(): (text: string) => readonly StreamPart[] {
  let rest = '';
  let isFirst = true;
  let name = '';
  let id = '';
  let data: string[] = [];

  const takeField = (field: string, value: string): StreamPart | undefined => {
    if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) return { kind: 'retry', milliseconds: Number(value) };
    return undefined;
  };

  const takeLine = (line: string): StreamPart | undefined => {
    if (line !== '') {
      const colon = line.indexOf(':');
      if (colon === 0) return undefined;
      const field = colon === -1 ? line : line.slice(0, colon);
      return takeField(field, colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, ''));
    }
    const event: StreamPart = { kind: 'event', name: name === '' ? 'message' : name, data: data.join('\n'), id };
    const isEmpty = data.length === 0;
    name = '';
    data = [];
    return isEmpty ? undefined : event;
  };

  return (text) => {
    if (text === '') return [];
    rest += isFirst ? text.replace(/^\uFEFF/, '') : text;
    isFirst = false;
    // A CR at the end of a chunk may be the first half of CRLF.
    const end = rest.endsWith('\r') ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
    rest = lines.pop()! + rest.slice(end);
    return lines.map(takeLine).filter((part) => part !== undefined);
  };
}
