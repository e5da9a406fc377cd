import { readFile } from 'node:fs/promises';

import { createTrustStore } from '../../../packages/diagnostics/src/tls/certificate/trust-store.ts';
import { median, type Figure } from '../goals.ts';
import { checkHttp } from './check.ts';
import { curl } from './curl.ts';
import type { HttpTarget } from './target.ts';

const ROUNDS = 100;
const WARM_UP = 20;
/** Time by which a phase may be longer than curl’s, milliseconds, in addition to `ALLOWED_SHARE`. */
const ALLOWED_MS = 1;
/** Share of curl’s time by which a phase may be longer. */
const ALLOWED_SHARE = 0.05;

const phases = ['connect', 'tls', 'firstByte', 'download', 'total'] as const;
type Phases = Readonly<Record<(typeof phases)[number], number>>;

/**
 * The phases of a check compared with those of `curl -w`, alternately, so that a slow moment of the machine affects
 * both.
 */
export async function phasesBesideCurl(target: HttpTarget): Promise<readonly Figure[]> {
  const context = { trust: createTrustStore([await readFile(target.rootFile, 'utf8')]) };
  const figures: Figure[] = [];
  for (const version of ['1.1', '2'] as const) {
    for (const path of ['/', '/slow']) {
      const url = `${target.secure}${path}`;
      const ours: Phases[] = [];
      const theirs: Phases[] = [];
      for (let round = -WARM_UP; round < ROUNDS; round += 1) {
        const { timings } = await checkHttp(url, version, context);
        const curls = await curl(url, version, target.rootFile);
        if (round < 0) continue;
        ours.push(timings as Phases);
        theirs.push(curls);
      }
      figures.push(...phases.map((phase) => figureOf(`HTTP/${version} ${path}: ${phase}`, phase, ours, theirs)));
    }
  }
  return figures;
}

function figureOf(name: string, phase: keyof Phases, ours: readonly Phases[], theirs: readonly Phases[]): Figure {
  const [own, curls] = [ours, theirs].map((rounds) => median(rounds.map((round) => round[phase]))) as [number, number];
  const comparison = `ours ${own.toFixed(2)} ms, curl ${curls.toFixed(2)} ms`;
  const atMost = ALLOWED_MS + ALLOWED_SHARE * curls;
  return { name: `${name} p50, more than curl`, value: own - curls, unit: 'ms', atMost, comparison };
}
