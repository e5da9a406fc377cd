import { choices, type Sample } from '../../chance.ts';

/** Packets that expired at a router. */
export interface Answers extends Sample {
  /** Hops to the target. */
  readonly distance: number;
  /** Logarithm of the likelihood ratio of two explanations of the order of its answers: a rate limit, or chance. */
  readonly order: number;
}

/** Packets on the path of one probe. */
export interface Chain {
  readonly routers: readonly Answers[];
  readonly target: Sample;
  /** True if no rate limit of the target’s answers explains all of its lost packets. */
  readonly isProved: boolean;
  /** Hops of the path, that of the target included. */
  readonly length: number;
}

/**
 * A link at which loss may begin: for each chain its distance from the target in hops, undefined if it is not on the
 * path.
 */
export type Begin = readonly (number | undefined)[];

/** Logarithms of the likelihoods of one chain, under one assumption about the rate limits of its routers. */
interface Logs {
  /**
   * If the loss begins on this path: by the share of lost packets, then by the distance of its beginning from the
   * target.
   */
  readonly withLoss: readonly (readonly number[])[];
  /** If the loss does not begin on this path: without loss, or with loss that begins elsewhere. */
  readonly other: number;
}

/** The logarithms of a chain, for each of `ASSUMPTIONS`. */
export type ChainLogs = readonly Logs[];

/** Hypotheses about the share of routers that rate-limit their answers, each with its prior probability. */
const LIMITED = [
  [0.05, 0.4],
  [0.5, 0.3],
  [0.95, 0.3],
] as const;
/** Prior probability that the target rate-limits its answers. */
const LIMITED_TARGET = 0.2;
/** Prior probability that another path loses packets at another place. */
const OTHER_LOSS = 0.05;
/** Loss rate where no loss is assumed. */
const ELSEWHERE = 1e-4;
/** Loss rates over which the likelihood is evaluated. */
const LOSSES = [0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.36, 0.42, 0.5, 0.58, 0.66, 0.75, 0.85, 0.94] as const;
/**
 * Shares of unanswered packets that are evaluated for the assumption that all routers rate-limit their answers alike.
 */
const ALIKE = LOSSES.filter((_, index) => index % 2 === 1);
const ASSUMPTIONS = LIMITED.flatMap(([limited, weight]) => [
  { limited, share: undefined, weight: weight / 2 },
  ...ALIKE.map((share) => ({ limited, share, weight: weight / 2 / ALIKE.length })),
]);
type Assumption = (typeof ASSUMPTIONS)[number];

/** Probability that the loss begins at each of these places, if it begins at one of them. */
export function beginChances(chains: readonly ChainLogs[], begins: readonly Begin[]): readonly number[] {
  const sums = begins.map((begin) =>
    logOfSum(
      ASSUMPTIONS.map(
        ({ weight }, index) =>
          Math.log(weight) +
          logOfBegin(
            chains.map((all) => all[index]!),
            begin,
          ),
      ),
    ),
  );
  const all = logOfSum(sums);
  return sums.map((sum) => Math.exp(sum - all));
}

function logOfBegin(chains: readonly Logs[], begin: Begin): number {
  const others = chains.reduce((sum, { other }, index) => sum + (begin[index] === undefined ? other : 0), 0);
  const ofLosses = LOSSES.map((_, loss) =>
    chains.reduce((sum, { withLoss }, index) => {
      const distance = begin[index];
      return distance === undefined ? sum : sum + withLoss[loss]![distance]!;
    }, 0),
  );
  return others + logOfMean(ofLosses);
}

/**
 * Logarithms of the likelihoods of one chain. Routers before the link at which loss begins have the loss rate
 * `ELSEWHERE`, those behind it that of the target. Each may rate-limit its answers: with any share, or all with the
 * same one.
 */
export function logsOfChain(chain: Chain): ChainLogs {
  const own = chain.routers.map((router) => ({
    before: anyShareLog(router),
    beyond: LOSSES.map((loss) => logOfMean(LOSSES.map((share) => binomialLog(router, ofBoth(loss, share))))),
  }));
  const target = LOSSES.map((loss) => targetLog(chain, loss));
  const clean = targetLog(chain, ELSEWHERE);
  return ASSUMPTIONS.map((assumption) => {
    const { share } = assumption;
    const limits = share === undefined ? own : chain.routers.map((router) => limitOf(router, share));
    return logsWith(assumption, chain, limits, target, clean);
  });
}

/**
 * Logarithms of the likelihood of the answers of a router that limits them: if it is before the link at which loss
 * begins, and if it is behind that link, for each of `LOSSES`.
 */
interface OfLimit {
  readonly before: number;
  readonly beyond: readonly number[];
}

function limitOf(router: Sample, share: number): OfLimit {
  return {
    before: binomialLog(router, share),
    beyond: LOSSES.map((loss) => binomialLog(router, ofBoth(loss, share))),
  };
}

function logsWith(
  { limited }: Assumption,
  { routers, length }: Chain,
  limits: readonly OfLimit[],
  target: readonly number[],
  clean: number,
): Logs {
  const mixed = (router: Answers, loss: number, byLimit: number): number =>
    logOfTwo(Math.log(1 - limited) + binomialLog(router, loss), Math.log(limited) + byLimit + router.order);
  const before = routers.map((router, index) => mixed(router, ELSEWHERE, limits[index]!.before));
  const none = before.reduce((sum, one) => sum + one, 0);
  const withLoss = LOSSES.map((loss, at) => {
    const logs = Array<number>(length).fill(none + target[at]!);
    for (const [index, router] of routers.entries()) {
      const gain = mixed(router, loss, limits[index]!.beyond[at]!) - before[index]!;
      for (let distance = router.distance; distance < length; distance += 1) logs[distance]! += gain;
    }
    return logs;
  });
  const ofAny = logOfMean(withLoss.flat());
  return { withLoss, other: logOfTwo(Math.log(1 - OTHER_LOSS) + none + clean, Math.log(OTHER_LOSS) + ofAny) };
}

function targetLog({ target, isProved }: Chain, loss: number): number {
  const ofLoss = binomialLog(target, loss);
  if (isProved) return ofLoss;
  const withLimit = logOfMean(LOSSES.map((share) => binomialLog(target, ofBoth(loss, share))));
  return logOfTwo(Math.log(1 - LIMITED_TARGET) + ofLoss, Math.log(LIMITED_TARGET) + withLimit);
}

/** Share of unanswered packets if loss and a rate limit apply independently. */
function ofBoth(loss: number, limit: number): number {
  return 1 - (1 - loss) * (1 - limit);
}

/** Logarithm of the probability of one particular order with this many losses. */
function binomialLog({ sent, lost }: Sample, share: number): number {
  return lost * Math.log(share) + (sent - lost) * Math.log(1 - share);
}

/** Like `binomialLog`, if every share of losses is equally likely. */
function anyShareLog({ sent, lost }: Sample): number {
  return -choices(sent, lost) - Math.log(sent + 1);
}

function logOfTwo(a: number, b: number): number {
  return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
}

function logOfSum(logs: readonly number[]): number {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, one) => sum + Math.exp(one - most), 0));
}

function logOfMean(logs: readonly number[]): number {
  return logOfSum(logs) - Math.log(logs.length);
}
