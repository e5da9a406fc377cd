/** Numbers of sent and lost packets, or of other trials (`sent`) and those with the counted outcome (`lost`). */
export interface Sample {
  readonly sent: number;
  readonly lost: number;
}

/** @param rtts of packets; null for one without an answer */
export function sampleOf(rtts: readonly (number | null)[]): Sample {
  return { sent: rtts.length, lost: rtts.filter((rtt) => rtt === null).length };
}

/**
 * Probability that `more` has at least this many lost packets by chance alone, given the total loss of both samples:
 * one-sided Fisher’s exact test.
 */
export function chanceOfMore(more: Sample, less: Sample): number {
  const [sent, lost] = [more.sent + less.sent, more.lost + less.lost];
  let sum = 0;
  for (let k = more.lost; k <= Math.min(more.sent, lost); k += 1) {
    if (lost - k > less.sent) continue;
    sum += Math.exp(choices(more.sent, k) + choices(less.sent, lost - k) - choices(sent, lost));
  }
  return sum;
}

/** Natural logarithm of the binomial coefficient `of` over `count`. */
export function choices(of: number, count: number): number {
  let sum = 0;
  for (let i = 1; i <= count; i += 1) sum += Math.log((of - count + i) / i);
  return sum;
}
