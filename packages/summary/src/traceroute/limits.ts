import { targetIndex, type Step, type Trace } from './trace.ts';

/**
 * Significance levels for an order of answers that indicates a rate limit; higher for ICMP errors, which most hosts
 * limit.
 */
const CHANCE = { ofAny: 0.05, ofErrors: 0.2 } as const;

/** Per packet, in sending order, whether it was answered. */
type Row = readonly boolean[];

/**
 * Whether loss may be a rate limit of the target, or of the target and preceding routers: a token bucket answers early
 * packets and then fewer, whereas random loss has no order.
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

/** Packets of all flows, since they may share one limit. */
function rowOf({ report }: Trace, { hop }: Step): Row {
  return (report.result.hops?.find((one) => one.hop === hop)?.rtts ?? []).map((rtt) => rtt !== null);
}

function rowsOfFlows({ report }: Trace, { hop }: Step): readonly Row[] {
  return (report.result.flows ?? [])
    .filter(({ reached }) => reached)
    .map(({ hops }) => (hops[hop - 1] ?? []).map((responder) => responder !== null));
}

/**
 * Probability that chance alone places answers this far before losses: one-sided Mann–Whitney test over all rows,
 * normal approximation. 1 if no row has an order.
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

/** Number of pairs of a lost packet and a later answered one. */
function lossesBeforeAnswers(row: Row): number {
  let [lost, pairs] = [0, 0];
  for (const isAnswered of row) {
    if (isAnswered) pairs += lost;
    else lost += 1;
  }
  return pairs;
}

/** Logistic approximation of the normal distribution (Bowling et al.), accurate to three digits. */
function normal(z: number): number {
  return 1 / (1 + Math.exp(-0.070_56 * z ** 3 - 1.597_6 * z));
}
