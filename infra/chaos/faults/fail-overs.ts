import { setTimeout as sleep } from 'node:timers/promises';

import { untilProbesAreUp } from '../../trial-probes.ts';
import { openDirect, type Deployment } from '../deployment.ts';
import { standStill } from '../processes.ts';
import { pick, type Fault, type Scene } from './fault.ts';

/** Redis' default interval at which a Sentinel publishes its state; after four of them it demotes a second master. */
const PUBLISHES_MS = 2_000;
/** Least period, so that even a short trial has checks at both masters. */
const PUBLISHES_AT_LEAST_MS = 500;

/** A master and a replica, watched by Sentinels. */
export const failOvers: readonly Fault[] = [
  {
    name: 'two masters after a fail-over by Sentinel',
    store: 'sentinel',
    inject: async ({ deployment, scale, harm }) => {
      harm('store', 'probes');
      await publishEvery(deployment, Math.max(PUBLISHES_AT_LEAST_MS, PUBLISHES_MS * scale));
      const before = await deployment.store.masterPort();
      const pid = await deployment.store.masterPid();
      process.kill(pid, 'SIGSTOP');
      await untilMasterIsNot(before, deployment);
      // The replaced master acts as master until a Sentinel reconfigures it, and its clients believe it.
      process.kill(pid, 'SIGCONT');
      await untilReplica(before);
      await publishEvery(deployment, PUBLISHES_MS);
      await sleep(Math.max(2_000, 5_000 * scale));
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
    },
  },
  {
    name: 'Redis failed over by Sentinel',
    store: 'sentinel',
    inject: async ({ deployment, harm }) => {
      harm('store', 'probes');
      const before = await deployment.store.masterPort();
      await deployment.store.kill();
      await untilMasterIsNot(before, deployment);
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
      await deployment.store.restart();
      await sleep(1_000);
    },
  },
  {
    name: 'the Sentinels stand still',
    store: 'sentinel',
    // Affects nothing that a client depends on: the master is known.
    inject: (scene) => sentinelsStandStill(scene, [500, 1_500, 5_000, 15_000]),
  },
  {
    name: 'the Sentinels stand still during a fail-over',
    store: 'sentinel',
    inject: async (scene) => {
      const { deployment, harm, random } = scene;
      const { store } = deployment;
      harm('store', 'probes');
      const before = await store.masterPort();
      await store.kill();
      // The Sentinels stop before they agree that the master is down: if they stopped later, its successor could not be
      // found.
      await sleep(random() * 1_000);
      await sentinelsStandStill(scene, [500, 1_500, 5_000]);
      await untilMasterIsNot(before, deployment);
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
      await store.restart();
      await sleep(1_000);
    },
  },
];

async function sentinelsStandStill({ deployment, random, scale }: Scene, times: readonly number[]): Promise<void> {
  const ms = pick(times, random) * scale;
  await Promise.all(deployment.store.sentinels.map(({ pid }) => standStill(pid, ms)));
}

async function untilMasterIsNot(port: number, { store }: Deployment): Promise<void> {
  while ((await store.masterPort()) === port) await sleep(50);
}

async function publishEvery({ store }: Deployment, ms: number): Promise<void> {
  for (const { port } of store.sentinels) {
    const sentinel = openDirect(port);
    await sentinel.call('SENTINEL', 'DEBUG', 'publish-period', String(ms));
    sentinel.disconnect();
  }
}

/** Waits until a server that was a master is a replica and has the data of its master. */
async function untilReplica(port: number): Promise<void> {
  for (let isReplica = false; !isReplica; await sleep(50)) {
    const server = openDirect(port);
    const [role, , , link] = (await server.role().catch(() => [])) as readonly unknown[];
    isReplica = role === 'slave' && link === 'connected';
    server.disconnect();
  }
}
