import { setTimeout as sleep } from 'node:timers/promises';

import { checkTypes } from '@vantage/diagnostics/contract';

import { startDeployment, type Deployment } from './deployment.ts';
import type { Fault } from './faults/index.ts';
import { historyNow, type History } from './history.ts';
import { CONTROL } from './seen.ts';
import { observe } from './observer.ts';
import { openWatched, watchOutages, type WatchedServer } from './outage-watch.ts';
import { seeded, shuffled } from '@vantage/test-support/random/seeded';
import { recoveries } from './recovery.ts';
import { watchStalls } from './stalls.ts';
import type { StoreKind } from './store.ts';
import { TARGET_NAME } from './targets.ts';

export interface RunOptions {
  readonly faults: readonly Fault[];
  readonly store: StoreKind;
  readonly seed: number;
  /** Duration of the rounds of all faults; 0: one round. */
  readonly durationMs: number;
  /** Rate, checks per second. */
  readonly rate: number;
  /** See `Scene`. */
  readonly scale: number;
  /** Number of agents that connect to Redis, and of those that connect to the gateways. */
  readonly agents?: number;
  /** See `ObserverOptions`. */
  readonly pollIntervalMs?: number;
  /** Time added to the bounds of completion and recovery, for busy machines. */
  readonly indulgenceMs?: number;
  /** Receives the observations of the clients, the injected faults, and the outages and stalls. */
  readonly history: History;
  readonly report: (line: string) => void;
  readonly screenshots?: boolean;
  readonly keepLogsIn?: string | undefined;
}

/** Time after which a fault has no more effects. */
const SETTLES_WITHIN_MS = 6_000;

/**
 * Runs the service and injects one fault after the other in an order that the seed fixes. No agent is restarted to make
 * it recover.
 *
 * @returns the faults that could not be injected here, each with its reason
 */
export async function runChaos(options: RunOptions): Promise<readonly string[]> {
  const { store, seed, rate, scale, indulgenceMs = 0, history } = options;
  // Separate generators for faults and for requests: the speed of responses must not change the faults.
  const [random, randomOfClients] = [seeded(seed), seeded(seed + 0x5eed)];
  const { agents = 2, pollIntervalMs, screenshots = false, keepLogsIn } = options;
  const deployment = await startDeployment({ agents, gatewayAgents: agents, store, screenshots, keepLogsIn });
  history.add({ kind: 'setup', store, indulgenceMs });
  const stalls = watchStalls(history);
  const ended = new AbortController();
  let outages: ReturnType<typeof watchOutages> | undefined;
  try {
    const { cluster, masterPort } = deployment.store;
    let servers: readonly WatchedServer[] = cluster?.watched ?? [{ port: await masterPort() }];
    if (store === 'sentinel') void followMaster(deployment, ended.signal, (port) => (servers = [{ port }]));
    outages = watchOutages(
      () => openWatched(servers),
      () => deployment.coordinators.some(({ part }) => part.ranSince(performance.now() - 500)),
      (outage) => history.add({ kind: 'outage', ...outage }),
    );
    const observer = observe({
      coordinators: deployment.coordinators,
      history,
      rate,
      random: randomOfClients,
      nextRequest: requestsFor(deployment, randomOfClients),
      pollIntervalMs,
    });
    let injected = 0;
    const inject = async (fault: Fault): Promise<void> => {
      if (fault.name === CONTROL && injected > 0) {
        observer.attribute('settling');
        await sleep(SETTLES_WITHIN_MS);
      }
      injected += 1;
      const [from, harmed] = [historyNow(), new Set<string>()];
      observer.attribute(fault.name);
      const harm = (...touched: readonly string[]): void => touched.forEach((name) => harmed.add(name));
      let unended: string | undefined;
      await fault.inject({ deployment, observer, random, scale, harm, unended: (text) => (unended = text) });
      history.add({ kind: 'fault', name: fault.name, from, to: historyNow(), harmed: [...harmed], unended });
      // Measured before the next fault, which would hide that a process depends on restarts of others.
      observer.noteRecovery(await recoveries(deployment, stalls.since));
    };
    const skipped = await injectAll(options, {
      deployment,
      random,
      inject,
    });
    options.report('looking at every check to its end');
    await observer.finish();
    return skipped;
  } finally {
    ended.abort();
    await outages?.stop();
    await stalls.stop();
    await deployment.stop();
  }
}

interface Injecting {
  readonly deployment: Deployment;
  readonly random: () => number;
  readonly inject: (fault: Fault) => Promise<void>;
}

async function injectAll(
  { faults, durationMs, report }: RunOptions,
  { deployment, random, inject }: Injecting,
): Promise<readonly string[]> {
  const skipped = new Map<string, string>();
  const until = performance.now() + durationMs;
  do {
    for (const fault of shuffled(random, faults)) {
      const reason = await fault.impossible?.(deployment);
      if (reason !== undefined) {
        skipped.set(fault.name, reason);
        continue;
      }
      skipped.delete(fault.name);
      report(fault.name);
      await inject(fault);
      if (durationMs > 0 && performance.now() > until) break;
    }
  } while (performance.now() < until);
  return [...skipped].map(([name, reason]) => `${name}: ${reason}`);
}

/** Quick checks, and checks that keep a probe busy for three seconds, each with the time to its deadline. */
export function requestsFor({ targets }: Deployment, random: () => number): () => { body: object; budgetMs: number } {
  const quick = { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort, options: { attempts: 1 } } as const;
  const named = { ...quick, host: TARGET_NAME } as const;
  const slow = { type: 'udp', host: '127.0.0.1', port: targets.silentPort, options: { attempts: 1 } } as const;
  const echo = { type: 'ping', host: '127.0.0.1', options: { count: 3, interval: 200 } } as const;
  return () => {
    const drawn = random();
    const body = drawn < 0.4 ? quick : drawn < 0.5 ? named : drawn < 0.85 ? slow : echo;
    return { body, budgetMs: checkTypes[body.type].budgetMs(body as never) };
  };
}

/** The watch of outages needs the address of the master, which the Sentinels know. */
async function followMaster({ store }: Deployment, signal: AbortSignal, found: (port: number) => void): Promise<void> {
  while (!signal.aborted) {
    // While the Sentinels are stopped they name no master.
    await store.masterPort().then(found, () => undefined);
    await sleep(100);
  }
}
