import { targetIndex, type Step, type Trace } from './trace.ts';

/** As rare by chance the order of answers must be to take it for a limit; of ICMP errors, which most hosts limit, less rare. */
const CHANCE = { ofAny: 0.05, ofErrors: 0.2 } as const;

/** For each packet, in the order sent, whether it was answered. */
type Row = readonly boolean[];

/**
 * Whether the target, or the target and the routers before it, may merely limit what they answer: answers come first and
 * fewer after them, as a token bucket has it, while chance loses packets in any order.
 */
export function mayBeLimited(trace: Trace, steps: readonly Step[]): boolean {
  const chance = trace.report.result.protocol === 'udp' ? CHANCE.ofErrors : CHANCE.ofAny;
  const [target] = [trace.steps[targetIndex(trace)!]!];
  return [[target], steps].some((hops) =>
    [hops.map((step) => rowOf(trace, step)), hops.flatMap((step) => rowsOfFlows(trace, step))].some(
      (rows) => chanceOfOrder(rows) <= chance,
    ),
  );
}

/** The packets of all flows: a limit may be that of all of them. */
function rowOf({ report }: Trace, { hop }: Step): Row {
  return (report.result.hops?.find((one) => one.hop === hop)?.rtts ?? []).map((rtt) => rtt !== null);
}

function rowsOfFlows({ report }: Trace, { hop }: Step): readonly Row[] {
  return (report.result.flows ?? [])
    .filter(({ reached }) => reached)
    .map(({ hops }) => (hops[hop - 1] ?? []).map((responder) => responder !== null));
}

/**
 * How likely it is that chance alone puts answers so far before losses: the Mann–Whitney test over all rows, one side, by
 * its normal approximation. 1 where nothing has an order.
 */
function chanceOfOrder(rows: readonly Row[]): number {
  let [early, mean, variance] = [0, 0, 0];
  for (const row of rows) {
    const answered = row.filter(Boolean).length;
    const lost = row.length - answered;
    early += lossesBeforeAnswers(row);
    mean += (answered * lost) / 2;
    variance += (answered * lost * (row.length + 1)) / 12;
  }
  return variance === 0 ? 1 : normal((early + 0.5 - mean) / Math.sqrt(variance));
}

/** Pairs of a lost packet and one that was answered after it. */
function lossesBeforeAnswers(row: Row): number {
  let [lost, pairs] = [0, 0];
  for (const isAnswered of row) {
    if (isAnswered) pairs += lost;
    else lost += 1;
  }
  return pairs;
}

/** The normal distribution, to three digits (the logistic curve of Bowling and others). */
function normal(z: number): number {
  return 1 / (1 + Math.exp(-0.070_56 * z ** 3 - 1.597_6 * z));
}
