import { setTimeout as sleep } from 'node:timers/promises';

import { checkTypes } from '@vantage/diagnostics/contract';

import { openDirect, startDeployment, type Deployment } from './deployment.ts';
import type { Fault } from './faults.ts';
import type { Tally } from './ledger.ts';
import { observe } from './observer.ts';
import { watchOutages } from './outage-watch.ts';
import { seededRandom, shuffled } from './random.ts';
import { recoveries } from './recovery.ts';

export interface RunOptions {
  readonly faults: readonly Fault[];
  readonly store: 'single' | 'sentinel';
  readonly seed: number;
  /** Rounds of all faults go on for as long; 0: one round. */
  readonly durationMs: number;
  /** Checks a second. */
  readonly rate: number;
  /** See `Scene`. */
  readonly scale: number;
  readonly agents?: number;
  readonly indulgenceMs?: number;
  readonly report: (line: string) => void;
  /** Ends the run at once, and all that it started. */
  readonly signal?: AbortSignal;
  readonly screenshots?: boolean;
}

export interface RunOutcome {
  readonly tallies: readonly Tally[];
  /** Faults that could not be had here, each with its reason. */
  readonly skipped: readonly string[];
}

/** After the end of a fault every probe answers a check with success within this time. */
const RECOVERS_WITHIN_MS = 5_000;

/** Runs the service, injects one fault after the other in an order that the seed fixes, and tells what callers saw. */
export async function runChaos(options: RunOptions): Promise<RunOutcome> {
  const { faults, store, seed, durationMs, rate, scale, indulgenceMs, report } = options;
  const random = seededRandom(seed);
  const { promise: aborted, reject: abort } = Promise.withResolvers<never>();
  aborted.catch(() => undefined);
  options.signal?.addEventListener('abort', () => abort(options.signal?.reason));
  const deployment = await startDeployment({
    ...{ agents: options.agents ?? 3, store, screenshots: options.screenshots ?? false },
  });
  const skipped = new Map<string, string>();
  let outages: ReturnType<typeof watchOutages> | undefined;
  try {
    let masterPort = await deployment.store.masterPort();
    if (store === 'sentinel') void followMaster(deployment, (port) => (masterPort = port));
    outages = watchOutages(
      () => openDirect(masterPort),
      () => deployment.coordinators.some(({ part }) => part.ranSince(performance.now() - 500)),
    );
    const observer = observe({
      ...{ coordinators: deployment.coordinators, outages, rate, random },
      ...(indulgenceMs === undefined ? {} : { indulgenceMs }),
      nextRequest: requestsFor(deployment, random),
    });
    const until = performance.now() + durationMs;
    do {
      for (const fault of shuffled(faults, random)) {
        const reason = await fault.impossible?.(deployment);
        if (reason !== undefined) {
          skipped.set(fault.name, reason);
          continue;
        }
        skipped.delete(fault.name);
        report(fault.name);
        observer.attribute(fault.name);
        await Promise.race([fault.inject({ deployment, observer, random, scale }), aborted]);
        // Before anything else is done to them: whatever needs a restart by others shows here.
        const recovered = recoveries(deployment, RECOVERS_WITHIN_MS + (indulgenceMs ?? 0));
        observer.noteRecovery(await Promise.race([recovered, aborted]));
        if (durationMs > 0 && performance.now() > until) break;
      }
    } while (performance.now() < until);
    report('looking at every check to its end');
    return {
      tallies: await Promise.race([observer.finish(), aborted]),
      skipped: [...skipped].map(([name, reason]) => `${name}: ${reason}`),
    };
  } finally {
    await outages?.stop();
    await deployment.stop();
  }
}

/** Quick checks and checks that keep a probe busy for two seconds, all with a deadline after five. */
export function requestsFor({ targets }: Deployment, random: () => number): () => { body: object; budgetMs: number } {
  const quick = { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort, options: { attempts: 1 } } as const;
  const slow = { type: 'udp', host: '127.0.0.1', port: targets.silentPort, options: { attempts: 1 } } as const;
  const echo = { type: 'ping', host: '127.0.0.1', options: { count: 3, interval: 200 } } as const;
  return () => {
    const drawn = random();
    const body = drawn < 0.5 ? quick : drawn < 0.85 ? slow : echo;
    return { body, budgetMs: checkTypes[body.type].budgetMs(body as never) };
  };
}

/** The watch of outages needs to know who takes writes: the Sentinels do. */
async function followMaster(deployment: Deployment, found: (port: number) => void): Promise<void> {
  for (;;) {
    await sleep(100);
    try {
      found(await deployment.store.masterPort());
    } catch {
      // Its Sentinels are gone, and so is the deployment.
      return;
    }
  }
}
