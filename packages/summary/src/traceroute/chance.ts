/** Packets of which some were lost. */
export interface Sample {
  readonly sent: number;
  readonly lost: number;
}

/**
 * How likely it is by chance alone that one of two samples has lost so much more than the other: Fisher’s exact test, one
 * side. Near 1 where it has lost no greater share.
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

/** The logarithm of the number of ways to choose so many of so many. */
function choices(of: number, count: number): number {
  let sum = 0;
  for (let i = 1; i <= count; i += 1) sum += Math.log((of - count + i) / i);
  return sum;
}
