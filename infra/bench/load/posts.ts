import { setTimeout as sleep } from 'node:timers/promises';

import { median, quantile, type Figure } from '../goals.ts';
import { forgetChecks } from './forget-checks.ts';
import { postFigures, postFor, type Posted } from './post.ts';
import { end, startWorker } from './processes.ts';
import { onStage } from './stage.ts';

/**
 * POSTs before the first measured round: V8 still compiles after 12,000, and has more to compile in the coordinator
 * than in the lower bound.
 */
const WARM_UP = 24_000;
const TURNS = 7;
/** Number of series of POSTs to each server in a turn: short and alternating, because the speed of the machine varies. */
const SERIES = 8;
/** POSTs of a series. */
const POSTS = 500;
/** So many probes that none gets 256 jobs (`MOST_QUEUED`) in a turn, after which a coordinator would refuse checks. */
const PROBES_OF_POSTS = 100;
/**
 * Bounds of a series and of a turn on a busy machine: after 15 s the first checks end, and would be part of the cost of
 * POSTs.
 */
const [SERIES_SECONDS, TURN_MS] = [3, 8_000];
/** Wait after the removal of jobs: a coordinator reads the lengths of busy probes' queues each second. */
const REREAD_MS = 3_000;
const BARE = new URL('bare-post-worker.ts', import.meta.url);

/** `POST /check` of the coordinator compared with a bare Express that adds the same five jobs with BullMQ. */
export async function posts(): Promise<readonly Figure[]> {
  // No agent takes the jobs of either: only the POST is measured.
  return onStage({ probes: PROBES_OF_POSTS, agents: 'none' }, async ({ redisPort, urls, pids }) => {
    const bare = await startWorker(BARE, [String(redisPort)]);
    const bareUrl = `http://127.0.0.1:${String(bare.said)}`;
    const postTo = (url: string, pid: number): Promise<Posted> => postFor(url, pid, SERIES_SECONDS, { most: POSTS });
    const takeTurn = async (): Promise<readonly Pair[]> => {
      const pairs: Pair[] = [];
      const until = performance.now() + TURN_MS;
      while (pairs.length < SERIES && performance.now() < until) {
        const ofBare = await postTo(bareUrl, bare.child.pid!);
        pairs.push({ ofBare, ours: await postTo(urls[0]!, pids.coordinators[0]!) });
      }
      // Removes untaken jobs, which would accumulate, and their checks, so that none ends during a POST.
      await forgetChecks(redisPort);
      await sleep(REREAD_MS);
      return pairs;
    };
    for (let posted = 0; posted < WARM_UP;) {
      for (const { ours } of await takeTurn()) posted += ours.times.length;
    }
    const pairs: Pair[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) pairs.push(...(await takeTurn()));
    await end(bare.child);
    return compare(pairs);
  });
}

/** A series of each server, one after the other. */
interface Pair {
  readonly ofBare: Posted;
  readonly ours: Posted;
}

function compare(pairs: readonly Pair[]): readonly Figure[] {
  const ofBare = postFigures(pairs.map((pair) => pair.ofBare));
  const ours = postFigures(pairs.map((pair) => pair.ours));
  const shares = pairs.map((pair) => rateOf(pair.ours) / rateOf(pair.ofBare));
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
      comparison: `half of ${shares.length} pairs between ${quantile(shares, 0.25).toFixed(2)} and ${quantile(shares, 0.75).toFixed(2)}`,
    },
  ];
}

/** POSTs a second of CPU time. */
function rateOf(posted: Posted): number {
  return postFigures([posted]).perSecondOfCore;
}
