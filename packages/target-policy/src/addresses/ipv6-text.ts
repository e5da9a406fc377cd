const GROUP = /^[0-9a-f]{1,4}$/i;
const GROUPS = 8;
/** The longest text: eight groups of four digits, the last two as a dotted quad. */
const MAX_LENGTH = 45;
/** ::ffff:0:0/96, the well-known prefix whose last 32 bits RFC 5952 section 5 writes as a dotted quad. */
const IPV4_MAPPED = 0xffffn;

/**
 * Parses IPv6 text (RFC 4291 section 2.2). `::` replaces at least one group.
 *
 * @param parseQuad parses a dotted quad in place of the last two groups
 */
export function parseIpv6(text: string, parseQuad: (quad: string) => bigint | undefined): bigint | undefined {
  if (text.length > MAX_LENGTH || !text.includes(':')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0]!, halves.length === 1, parseQuad);
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true, parseQuad) : [];
  if (head === undefined || tail === undefined) return undefined;

  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((sum, group) => (sum << 16n) | group, 0n);
}

/** @param last true if the text ends the address, so that it may end with a dotted quad */
function parseGroups(
  text: string,
  last: boolean,
  parseQuad: (quad: string) => bigint | undefined,
): readonly bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: bigint[] = [];
  for (const [index, part] of parts.entries()) {
    if (GROUP.test(part)) {
      groups.push(BigInt(`0x${part}`));
      continue;
    }
    const quad = last && index === parts.length - 1 ? parseQuad(part) : undefined;
    if (quad === undefined) return undefined;
    groups.push(quad >> 16n, quad & 0xffffn);
  }
  return groups;
}

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
export function formatIpv6(value: bigint, formatQuad: (quad: bigint) => string): string {
  if (value >> 32n === IPV4_MAPPED) return `::ffff:${formatQuad(value & 0xffffffffn)}`;
  const groups = Array.from({ length: GROUPS }, (_, index) => Number((value >> BigInt(112 - index * 16)) & 0xffffn));
  const run = longestZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}
