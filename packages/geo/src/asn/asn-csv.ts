/**
 * A row of the files of `@ip-location-db/asn`: a range of addresses, both ends included, and the network that has it.
 */
export interface AsnRange {
  readonly start: bigint;
  readonly end: bigint;
  readonly asn: number;
  readonly name: string;
}

/**
 * Reads rows of `start,end,number,"name"` with addresses as decimal numbers (RFC 4180 quoting of the name alone).
 * Ranges may overlap: the one that starts later is meant to replace that part of the earlier one.
 *
 * @throws {Error} with the line, for a row of another form, and for ranges out of order
 */
export function* readAsnCsv(text: string): Generator<AsnRange> {
  let line = 0;
  let last = -1n;
  for (let from = 0; from < text.length;) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    const row = text.slice(from, to).trimEnd();
    from = to + 1;
    line += 1;
    if (row === '') continue;
    const range = readRow(row);
    if (range === null || range.end < range.start) throw new Error(`line ${line} is no range of a network: ${row}`);
    if (range.start < last) throw new Error(`line ${line} starts before the range before it: ${row}`);
    last = range.start;
    yield range;
  }
}

function readRow(row: string): AsnRange | null {
  const fields = ROW.exec(row);
  if (fields === null) return null;
  const [, start, end, asn, name] = fields as unknown as readonly [string, string, string, string, string];
  return { start: BigInt(start), end: BigInt(end), asn: Number(asn), name: unquote(name) };
}

const ROW = /^([0-9]{1,39}),([0-9]{1,39}),([0-9]{1,10}),("(?:[^"]|"")*"|[^",]*)$/;

function unquote(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}
