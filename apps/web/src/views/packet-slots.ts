/**
 * Number of bars that a row of packets has room for: at least the default count of four, while fewer packets are known.
 *
 * @param packets their numbers have gaps if the probe stood still: those packets are left out, also of the number expected
 */
export function slotsFor(packets: readonly { readonly seq: number }[], expected: number): number {
  return Math.max(expected, ...packets.map(({ seq }) => seq), 4);
}
