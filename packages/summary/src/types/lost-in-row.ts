import type { SparseResultOf } from '../probe-result.ts';

/** Number of unanswered packets from which the text says that they are consecutive. */
const LEAST = 3;

/**
 * `, in a row`, `, the first ones` or `, the last ones` of packets without an answer that follow each other: an outage
 * of seconds, or one that begins or ends during the check. Empty for others.
 */
export function lostInRow({ packets = [] }: SparseResultOf<'ping'>): string {
  const isLost = packets.filter(({ duplicate }) => !duplicate).map(({ rtt }) => rtt === null);
  const [first, last] = [isLost.indexOf(true), isLost.lastIndexOf(true)];
  const lost = isLost.filter(Boolean).length;
  if (lost < LEAST || lost === isLost.length || last - first + 1 > lost) return '';
  if (first === 0) return ', the first ones';
  return last === isLost.length - 1 ? ', the last ones' : ', in a row';
}
