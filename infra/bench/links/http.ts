import { curl, type CurlPhases } from '../http/curl.ts';
import { median, type Figure } from '../goals.ts';
import type { CheckProcess } from './checks.ts';
import { lossyPath, type LinkLab, type Path } from './lab.ts';
import { deviation } from './deviation.ts';
import { ports, urlOf, type FileName } from './servers.ts';

export interface Bench {
  readonly lab: LinkLab;
  readonly checks: CheckProcess;
  readonly rootFile: string;
}

const phases = ['dns', 'connect', 'tls', 'firstByte', 'download', 'total'] as const;
const versions = ['1.1', '2'] as const;
/**
 * Bounds of the share of pairs in which the check is the slower one: three standard deviations around a half, for two
 * samples of 60 from the same distribution.
 */
const EVEN = { atLeast: 0.34, atMost: 0.66 } as const;

/** The phases of a check of each file and version, alternately with curl's, over a link without loss. */
export async function httpPhases(
  bench: Bench,
  path: Path,
  files: readonly FileName[],
  rounds: number,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const version of versions) {
    for (const file of files) {
      const [ours, curls] = await inTurns(bench, path, file, version, rounds);
      const name = `${file} over HTTP/${version} at ${path.name}`;
      for (const phase of phases)
        figures.push(deviation(`${name}: ${phase}`, 'curl', of(ours, phase), of(curls, phase)));
      if (file !== '1 MB') continue;
      const [own, theirs] = [median(of(ours, 'total')), median(of(curls, 'total'))];
      const comparison = `ours ${own.toFixed(0)} ms, curl ${theirs.toFixed(0)} ms`;
      figures.push({ name: `${name}, curl = 1`, value: own / theirs, unit: '×', atMost: 1.05, comparison });
    }
  }
  return figures;
}

/** http checks and curl over a link with loss: no two requests lose the same packets, so distributions are compared. */
export async function httpWithLoss(bench: Bench, rounds: number): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const version of versions) {
    const [ours, curls] = await inTurns(bench, lossyPath, '200 KB', version, rounds);
    // Retransmission of a lost query is up to the resolver, so the dns phase is excluded from both totals.
    const [own, theirs] = [ours, curls].map((all) => all.map(({ total, dns }) => total - dns)) as [number[], number[]];
    const comparison = `medians: ours ${median(own).toFixed(0)} ms, curl ${median(theirs).toFixed(0)} ms, without the name`;
    const name = `200 KB over HTTP/${version} at ${lossyPath.name}, share of pairs in which the check is slower than curl`;
    figures.push({ name, value: slower(own, theirs), unit: '', ...EVEN, comparison });
  }
  return figures;
}

async function inTurns(
  { lab, checks, rootFile }: Bench,
  path: Path,
  file: FileName,
  version: '1.1' | '2',
  rounds: number,
): Promise<readonly [ours: readonly CurlPhases[], curls: readonly CurlPhases[]]> {
  const url = urlOf(path, file);
  const [ours, curls]: [CurlPhases[], CurlPhases[]] = [[], []];
  lab.resolveOver(path);
  for (let round = -1; round < rounds; round += 1) {
    const { timings } = await checks.check({
      type: 'http',
      url,
      httpVersion: version,
      resolver: `${path.address}:${ports.dns}`,
    });
    const theirs = await curl(url, version, rootFile, lab.inside('probe'));
    // The first round loads what later rounds reuse.
    if (round < 0) continue;
    ours.push(timings as unknown as CurlPhases);
    curls.push(theirs);
  }
  return [ours, curls];
}

function of(rounds: readonly CurlPhases[], phase: (typeof phases)[number]): readonly number[] {
  return rounds.map((round) => round[phase]);
}

/** Share of all pairs in which the first value is larger; a half for equal distributions. */
function slower(ours: readonly number[], theirs: readonly number[]): number {
  const pairs = ours.flatMap((own) => theirs.map((other): number => (own === other ? 0.5 : Number(own > other))));
  return pairs.reduce((sum, one) => sum + one, 0) / pairs.length;
}
