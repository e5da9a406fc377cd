/**
 * Number of bars that a row of packets has room for. At least four, the default count, also after a check of fewer
 * packets: while it runs, their number is not known.
 *
 * @param packets without those that were to be sent while the probe stalled, which `expected` does not count either:
 * the numbers may have gaps
 */
export function slotsFor(packets: readonly { readonly seq: number }[], expected: number): number {
  return Math.max(expected, ...packets.map(({ seq }) => seq), 4);
}
