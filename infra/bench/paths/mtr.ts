import { startCheckRunner } from '../../netlab/check-runner.ts';
import { createNetlab, type Netlab } from '../../netlab/netlab.ts';
import type { HopStats } from '../../../packages/diagnostics/src/types/traceroute/options/round-options.ts';
import { families, type Traceroute } from '../../netlab/test-lab.ts';
import { networks } from '../../netlab/topology.ts';
import type { Figure } from '../goals.ts';
import type { Peers } from '../packets/peers.ts';
import { order } from '../packets/round-trips.ts';

const RUNS = 20;
const ROUNDS = 20;
/** Differences beyond this many standard errors are not attributed to chance. */
const SIGMAS = 3.5;
/** Tolerance: mtr prints tenths of a millisecond, and reads its clock after the kernel has queued the reply. */
const RESOLUTION_MS = 0.3;

/** Loss and round-trip times that one run of a tool found at one hop. */
interface HopFigures {
  readonly sent: number;
  readonly lost: number;
  readonly averageMs: number | null;
  /** Best, worst, standard deviation and mean jitter, in milliseconds; null without a reply. */
  readonly spread: Readonly<Record<SpreadName, number>> | null;
}

const spreadNames = ['best', 'worst', 'deviation', 'jitter'] as const;
type SpreadName = (typeof spreadNames)[number];

/** `rounds` and Debian’s mtr at the same time over a path with delay and loss, for both families. */
export async function agreesWithMtr(peers: Peers): Promise<readonly Figure[]> {
  const mtr = peers.path('mtr');
  if (mtr === undefined) throw new Error('mtr is missing: apt-get install mtr-tiny');
  const lab = await createNetlab();
  const runner = startCheckRunner(lab);
  try {
    const figures: Figure[] = [];
    for (const { family, address } of families) {
      const host = address(networks.lossyDistant, 99);
      const runs = await Promise.all(
        Array.from({ length: RUNS }, async () => {
          const check = runner.run(order('traceroute', host, { rounds: ROUNDS, family }));
          const [theirs, { outcome }] = await Promise.all([report(lab, mtr, host), check]);
          return { theirs, ours: hopsOf(outcome as Traceroute) };
        }),
      );
      figures.push(...compared(`IPv${family}`, runs));
    }
    return figures;
  } finally {
    await runner.stop();
    lab.remove();
  }
}

function hopsOf({ hops = [] }: Traceroute): readonly HopFigures[] {
  return hops.map(({ stats }) => {
    if (stats === undefined) throw new Error('A hop of a trace with rounds has no stats.');
    return {
      sent: stats.sent,
      lost: stats.sent - stats.received,
      averageMs: stats.rttAvg,
      spread: spreadOf(stats),
    };
  });
}

function spreadOf({ received, rttMin, rttMax, rttStdDev, jitter }: HopStats): HopFigures['spread'] {
  if (rttMin === null || rttMax === null || rttStdDev === null) return null;
  // mtr counts the first reply as a difference of 0.
  return { best: rttMin, worst: rttMax, deviation: rttStdDev, jitter: ((jitter ?? 0) * (received - 1)) / received };
}

async function report(lab: Netlab, mtr: string, host: string): Promise<readonly HopFigures[]> {
  const command = [
    'env',
    `MTR_PACKET=${mtr}-packet`,
    mtr,
    '-n',
    '--report',
    '-o',
    'LSABWVM',
    '-c',
    String(ROUNDS),
    host,
  ] as const;
  const { stdout } = await lab.run('probe', ...command);
  return [...stdout.matchAll(/^ *\d+\.\|-- +\S+ +([\d.]+)%((?: +[\d.]+){6})/gm)].map(([, loss, rest = '']) => {
    const [sent = 0, average = 0, best = 0, worst = 0, deviation = 0, jitter = 0] = rest.trim().split(/ +/).map(Number);
    const lost = Math.round((Number(loss) / 100) * sent);
    if (lost === sent) return { sent, lost, averageMs: null, spread: null };
    return { sent, lost, averageMs: average, spread: { best, worst, deviation, jitter } };
  });
}

interface Run {
  readonly ours: readonly HopFigures[];
  readonly theirs: readonly HopFigures[];
}

function compared(family: string, runs: readonly Run[]): readonly Figure[] {
  const hops = Math.max(...runs.flatMap(({ ours, theirs }) => [ours.length, theirs.length]));
  let [wrongLoss, wrongTime] = [0, 0];
  const texts = Array.from({ length: hops }, (_, index) => {
    const [ours, theirs] = (['ours', 'theirs'] as const).map((of) =>
      pooled(runs.flatMap((run) => run[of][index] ?? [])),
    );
    if (Math.abs(ours!.share - theirs!.share) > SIGMAS * Math.hypot(ours!.shareError, theirs!.shareError))
      wrongLoss += 1;
    const error = SIGMAS * Math.hypot(ours!.meanError, theirs!.meanError) + RESOLUTION_MS;
    if (!(Math.abs(ours!.meanMs - theirs!.meanMs) <= error)) wrongTime += 1;
    return `${index + 1}: ${textOf(ours!)}, mtr ${textOf(theirs!)}`;
  });
  const comparison = texts.join('; ');
  const indexes = Array.from({ length: hops }, (_, index) => index);
  const spreads = spreadNames.map((name): Figure => {
    const found = indexes.map((index) => differenceAt(index, name, runs));
    return {
      name: `hops whose ${name} is not mtr’s, ${family}`,
      value: found.filter(({ isWrong }) => isWrong).length,
      unit: `of ${hops}`,
      atMost: 0,
      comparison: found.map(({ text }) => text).join('; '),
    };
  });
  return [
    { name: `hops whose loss is not mtr’s, ${family}`, value: wrongLoss, unit: `of ${hops}`, atMost: 0, comparison },
    { name: `hops whose average is not mtr’s, ${family}`, value: wrongTime, unit: `of ${hops}`, atMost: 0 },
    ...spreads,
  ];
}

/**
 * Compares the two tools run by run, because they measured at the same time. mtr reads a userspace clock, so its times
 * are longer on a busy machine.
 */
function differenceAt(index: number, name: SpreadName, runs: readonly Run[]): { isWrong: boolean; text: string } {
  const pairs = runs.flatMap(({ ours, theirs }) => {
    const [own, other] = [ours[index]?.spread, theirs[index]?.spread];
    return own && other ? [{ own: own[name], other: other[name] }] : [];
  });
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const differences = pairs.map(({ own, other }) => own - other);
  const average = mean(differences);
  const variance = differences.reduce((sum, one) => sum + (one - average) ** 2, 0) / (differences.length - 1);
  const allowed = SIGMAS * Math.sqrt(variance / differences.length) + RESOLUTION_MS;
  const [own, other] = [mean(pairs.map((pair) => pair.own)), mean(pairs.map((pair) => pair.other))];
  const text = `${index + 1}: ${own.toFixed(2)}, mtr ${other.toFixed(2)} ms`;
  return { isWrong: pairs.length > 0 && !(average <= allowed && (name !== 'best' || average >= -allowed)), text };
}

type Pooled = ReturnType<typeof pooled>;

function pooled(hops: readonly HopFigures[]): {
  readonly share: number;
  readonly shareError: number;
  readonly meanMs: number;
  readonly meanError: number;
} {
  const sent = hops.reduce((sum, hop) => sum + hop.sent, 0);
  const share = hops.reduce((sum, hop) => sum + hop.lost, 0) / sent;
  const times = hops.flatMap(({ averageMs }) => averageMs ?? []);
  const meanMs = times.reduce((sum, time) => sum + time, 0) / times.length;
  const variance = times.reduce((sum, time) => sum + (time - meanMs) ** 2, 0) / (times.length - 1);
  // Agresti-Coull estimate: a sample without loss does not prove that the loss rate is zero.
  const likely = (share * sent + 2) / (sent + 4);
  return {
    share,
    shareError: Math.sqrt((likely * (1 - likely)) / sent),
    meanMs,
    meanError: Math.sqrt(variance / times.length),
  };
}

function textOf({ share, meanMs }: Pooled): string {
  return `${(share * 100).toFixed(1)} % ${meanMs.toFixed(1)} ms`;
}
