import { setTimeout as sleep } from 'node:timers/promises';

import { median, type Figure } from '../goals.ts';
import { forgetChecks } from './forget-checks.ts';
import { postFigures, postFor, type Posted } from './post.ts';
import { end, startWorker } from './processes.ts';
import { onStage } from './stage.ts';

/**
 * Rounds before the first measured one: while V8 compiles, its threads take a quarter of the CPU time of a coordinator after
 * 12,000 POSTs, and a tenth of that of the lower bound, which has less code.
 */
const WARM_UP_TURNS = 6;
const TURNS = 7;
/** POSTs of a round. */
const POSTS = 4_000;
/** So many that none gets 256 jobs in a round, after which a coordinator refuses checks (`MOST_QUEUED`). */
const PROBES_OF_POSTS = 100;
/** Longest time for the POSTs of a round on a busy machine. */
const AT_MOST_SECONDS = 60;
/** A coordinator reads the queues of busy probes each second: until then it knows the length that they had. */
const REREAD_MS = 3_000;
const BARE = new URL('bare-post-worker.ts', import.meta.url);

/** `POST /check` of the coordinator compared with a bare Express that adds the same five jobs with BullMQ. */
export async function posts(): Promise<readonly Figure[]> {
  // No agent takes the jobs of either: only the POST is measured.
  return onStage({ probes: PROBES_OF_POSTS, agents: 'none' }, async ({ redisPort, urls, pids }) => {
    const bare = await startWorker(BARE, [String(redisPort)]);
    const bareUrl = `http://127.0.0.1:${String(bare.said)}`;
    const postTo = async (url: string, pid: number): Promise<Posted> => {
      const posted = await postFor(url, pid, AT_MOST_SECONDS, { most: POSTS });
      // Untaken jobs do not accumulate, and no check ends during a POST.
      await forgetChecks(redisPort);
      return posted;
    };
    const [bares, all]: [Posted[], Posted[]] = [[], []];
    // Alternately, each compared with its neighbour, because the speed of the machine varies.
    for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn += 1) {
      bares.push(await postTo(bareUrl, bare.child.pid!));
      all.push(await postTo(urls[0]!, pids.coordinators[0]!));
      await sleep(REREAD_MS);
    }
    await end(bare.child);
    return compare(bares.slice(WARM_UP_TURNS), all.slice(WARM_UP_TURNS));
  });
}

function compare(bares: readonly Posted[], all: readonly Posted[]): readonly Figure[] {
  const [ofBare, ours] = [postFigures(bares), postFigures(all)];
  const shares = all.map((one, turn) => rateOf(one) / rateOf(bares[turn]!));
  const comparison = (value: number): string => `bare: ${value.toFixed(2)}`;
  return [
    { name: 'POST p50', value: ours.p50, unit: 'ms', comparison: comparison(ofBare.p50) },
    { name: 'POST p99', value: ours.p99, unit: 'ms', comparison: comparison(ofBare.p99) },
    {
      name: 'POST a second of a core',
      value: ours.perSecondOfCore,
      unit: '1/s',
      comparison: comparison(ofBare.perSecondOfCore),
    },
    {
      name: 'POST relative to bare',
      value: median(shares),
      unit: 'of it',
      atLeast: 0.85,
      comparison: `median of ${shares.map((share) => share.toFixed(2)).join(', ')}`,
    },
  ];
}

/** POSTs a second of CPU time. */
function rateOf(posted: Posted): number {
  return postFigures([posted]).perSecondOfCore;
}
