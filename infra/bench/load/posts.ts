import { setTimeout as sleep } from 'node:timers/promises';

import { median, type Figure } from '../goals.ts';
import { forgetChecks } from './forget-checks.ts';
import { postFigures, postFor, type Posted } from './post.ts';
import { end, startWorker } from './processes.ts';
import { onStage, type Lengths } from './stage.ts';

const TURNS = 5;
/** So many that none gets 256 jobs in a round, after which a coordinator refuses checks (`MOST_QUEUED`). */
const PROBES_OF_POSTS = 100;
/** Longest time for the POSTs of a round on a busy machine. */
const AT_MOST_SECONDS = 60;
/** Longer than the deadline of a check, 15 s: a coordinator counts untaken jobs until then. */
const FORGOTTEN_MS = 17_000;
const BARE = new URL('bare-post-worker.ts', import.meta.url);

/** `POST /check` of the coordinator compared with a bare Express that adds the same five jobs with BullMQ. */
export async function posts({ posts: most }: Lengths): Promise<readonly Figure[]> {
  // No agent takes the jobs of either: only the POST is measured.
  return onStage({ probes: PROBES_OF_POSTS, agents: 'none' }, async ({ redisPort, urls, pids }) => {
    const bare = await startWorker(BARE, [String(redisPort)]);
    const bareUrl = `http://127.0.0.1:${String(bare.said)}`;
    const [pid = 0] = pids.coordinators;
    const postBare = (): Promise<Posted> => postFor(bareUrl, bare.child.pid!, AT_MOST_SECONDS, { most });
    const postOurs = async (): Promise<Posted> => {
      const posted = await postFor(urls[0]!, pid, AT_MOST_SECONDS, { most });
      await forgetChecks(redisPort);
      await sleep(FORGOTTEN_MS);
      return posted;
    };
    // Warm-up: V8 compiles the code before the first measured round.
    await postBare();
    await postOurs();
    const [bares, all]: [Posted[], Posted[]] = [[], []];
    // Alternately, each compared with its neighbour, because the speed of the machine varies.
    for (let turn = 0; turn < TURNS; turn += 1) {
      // Removes untaken jobs, which would accumulate, and checks, so that none ends during a POST.
      await forgetChecks(redisPort);
      bares.push(await postBare());
      await forgetChecks(redisPort);
      all.push(await postOurs());
    }
    await end(bare.child);
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
  });
}

/** POSTs a second of CPU time. */
function rateOf(posted: Posted): number {
  return postFigures([posted]).perSecondOfCore;
}
