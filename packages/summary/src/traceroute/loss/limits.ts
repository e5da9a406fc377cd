import { thresholds } from '../../thresholds.ts';
import { targetIndex, type Step, type Trace } from '../trace.ts';

/**
 * Probability of an outcome that contradicts the token bucket: send times are inexact, and other packets take tokens.
 */
const NOISE = 0.08;
/** Candidate numbers of packets per new token; infinite if the trace ends before the next token. */
const REFILLS = [1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 35, 50, Infinity] as const;
/** Prior share of rate-limited routers whose answers follow no order, because other packets take tokens. */
const IN_ANY_ORDER = 0.1;

/** Per packet, in sending order, whether it was answered. */
type Row = readonly boolean[];

/** Rows of one hop: all flows combined, since they may share a limit, and each flow. */
interface Rows {
  readonly all: Row;
  readonly ofFlows: readonly Row[];
}

/** A path with loss at the target, and the preceding routers that lost packets too. */
export interface Suspect {
  readonly trace: Trace;
  readonly routers: readonly Step[];
}

/**
 * Logarithm of the likelihood ratio of two causes of loss: rate limits of the target and of those routers, or packets
 * lost by chance. Chance has no order. A limit is a token bucket per hop: a burst of answers, then one for each new
 * token. By Markov’s inequality, the ratio is below 1/x in at most one of x cases with limits, and above x in at most
 * one of x cases without.
 */
export function weightOfLimits(suspects: readonly Suspect[]): number {
  const sumOf = (rows: readonly Rows[]): number => rows.reduce((sum, one) => sum + weightOfRows(one), 0);
  const target = sumOf(
    suspects.flatMap(({ trace }) => (isAtSeveralHops(trace) ? [] : rowsOf(trace, trace.steps[targetIndex(trace)!]!))),
  );
  const seen = suspects.flatMap(({ trace, routers }) => routers.map((step) => ({ trace, step })));
  const byRouter = Map.groupBy(
    seen,
    ({ trace, step }) => step.routers[0]?.ip ?? `${trace.probeResult.probe} ${step.hop}`,
  );
  const routers = [...byRouter.values()].map((own) => sumOf(own.map(({ trace, step }) => rowsOf(trace, step))));
  return routers.reduce((sum, weight) => sum + Math.log(IN_ANY_ORDER + (1 - IN_ANY_ORDER) * Math.exp(weight)), target);
}

/**
 * Logarithm of the likelihood ratio between rate limits of routers and loss by chance, from the order of their answers
 * alone. Other traffic may use up the limits of all routers of a path alike, hence one common probability that the
 * order is random.
 */
export function weightOfOrder(
  seen: readonly { readonly trace: Trace; readonly step: Step }[],
  inAnyOrder: number = IN_ANY_ORDER,
): number {
  const weight = seen.reduce((sum, { trace, step }) => sum + weightOfRows(rowsOf(trace, step)), 0);
  return Math.log(inAnyOrder + (1 - inAnyOrder) * Math.exp(weight));
}

/** True if a rate limit explains which packets a hop answered `lossOverLimit` times better than chance does. */
export function isLimitLikely(trace: Trace, step: Step): boolean {
  return weightOfRows(rowsOf(trace, step)) > Math.log(thresholds.lossOverLimit);
}

/**
 * True if the target answered at several hops of a trace without a search for all paths: one limit may apply to its
 * answers at all of them.
 */
function isAtSeveralHops({ steps, target, branching }: Trace): boolean {
  return branching.length === 0 && steps.filter(({ routers }) => routers.some(({ ip }) => ip === target)).length > 1;
}

/**
 * With several flows, `all` has only as many packets as hop 1 got, those of the first pass: repeated packets are spaced
 * differently.
 */
function rowsOf(trace: Trace, { hop }: Step): Rows {
  const { hops = [], flows = [] } = trace.probeResult.result;
  const first = flows.length < 2 || trace.branching.length > 0 ? undefined : trace.steps[0]?.sent;
  const all = (hops.find((one) => one.hop === hop)?.rtts ?? []).map((rtt) => rtt !== null);
  const reaching = flows.filter(({ reached }) => reached);
  return {
    all: all.slice(0, first),
    ofFlows: reaching.map((flow) => (flow.hops[hop - 1] ?? []).map((responder) => responder !== null)),
  };
}

/**
 * Log-likelihood ratio as in `weightOfRow`. With several flows, the log of the mean of two models: one bucket for all
 * flows, or one per flow because flows may reach different hosts.
 */
function weightOfRows({ all, ofFlows }: Rows): number {
  if (ofFlows.length < 2) return weightOfRow(all);
  const ofEach = ofFlows.reduce((sum, row) => sum + weightOfRow(row), 0);
  return logOfMean([weightOfRow(all), ofEach]);
}

/** Log-likelihood ratio of the order of a row in token buckets, compared with a random order of as many losses. */
function weightOfRow(row: Row): number {
  const answered = row.filter(Boolean).length;
  const lost = row.length - answered;
  if (answered === 0 || lost === 0) return 0;
  const buckets = REFILLS.map((refill) => ({ refill, burst: burstFor(row.length, answered, refill) }));
  const fitting = buckets.filter((bucket) => answersOf(row.length, bucket) === answered);
  // Normalises the likelihood: a bucket also explains each order in which one answered and one lost packet are swapped.
  const others = answered * lost * (NOISE / (1 - NOISE)) ** 2;
  const likelihood = logOfMean(fitting.map((bucket) => likelihoodOf(row, bucket))) - Math.log(1 + others);
  return likelihood + orders(answered, lost);
}

/** Logarithm of the number of orders in which so many packets can be answered and lost. */
function orders(answered: number, lost: number): number {
  let sum = 0;
  for (let i = 1; i <= answered; i += 1) sum += Math.log((lost + i) / i);
  return sum;
}

interface Bucket {
  /** Initial and maximum number of tokens. */
  readonly burst: number;
  /** Packets until the next token. */
  readonly refill: number;
}

/** The smallest burst that yields at least this many answers, at most one per packet; a fast refill may yield more. */
function burstFor(length: number, answered: number, refill: number): number {
  let [least, most] = [1, length];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (answersOf(length, { burst: middle, refill }) < answered) least = middle + 1;
    else most = middle;
  }
  return least;
}

function answersOf(length: number, bucket: Bucket): number {
  let [tokens, answers] = [bucket.burst, 0];
  for (let i = 0; i < length; i += 1) {
    const isAnswered = tokens >= 1;
    if (isAnswered) answers += 1;
    tokens = refilled(tokens - (isAnswered ? 1 : 0), bucket);
  }
  return answers;
}

/** Log-likelihood of an order, relative to that of the bucket’s own order. */
function likelihoodOf(row: Row, bucket: Bucket): number {
  let [tokens, sum] = [bucket.burst, 0];
  for (const isAnswered of row) {
    // The last packet before the next token may be answered as well.
    const chance =
      NOISE + (1 - 2 * NOISE) * Math.min(1, Math.max(0, tokens >= 1 ? 1 : 1 + (tokens - 1) * bucket.refill));
    sum += Math.log((isAnswered ? chance : 1 - chance) / (1 - NOISE));
    // An answered packet took a token; an unanswered one shows that there was less than one.
    tokens = refilled(isAnswered ? Math.max(0, tokens - 1) : Math.min(tokens, 1 - 0.5 / bucket.refill), bucket);
  }
  return sum;
}

function refilled(tokens: number, { burst, refill }: Bucket): number {
  return Math.min(burst, tokens + 1 / refill);
}

function logOfMean(logarithms: readonly number[]): number {
  const most = Math.max(...logarithms);
  return most + Math.log(logarithms.reduce((sum, one) => sum + Math.exp(one - most), 0) / logarithms.length);
}
