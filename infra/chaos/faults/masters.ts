import { setTimeout as sleep } from 'node:timers/promises';

import { standStill } from '../processes.ts';
import { pick, stillMs, type Fault, type Scene } from './fault.ts';

/**
 * Faults with a cluster of masters without replicas: without one of them a third of the keys is unavailable, and after
 * some seconds all.
 */
export const masters: readonly Fault[] = [
  {
    name: 'a master of the cluster stands still',
    store: 'cluster',
    inject: async (scene) => {
      scene.harm('store', 'probes');
      await standStill(scene.deployment.store.cluster!.nodes[pickMaster(scene)]!.pid, stillMs(scene));
    },
  },
  {
    name: 'all masters of the cluster stand still',
    store: 'cluster',
    inject: async (scene) => {
      scene.harm('store', 'probes');
      const ms = stillMs(scene);
      await Promise.all(scene.deployment.store.cluster!.nodes.map(({ pid }) => standStill(pid, ms)));
    },
  },
  {
    name: 'a master of the cluster killed and started again',
    store: 'cluster',
    inject: async (scene) => {
      scene.harm('store', 'probes');
      const [index, cluster] = [pickMaster(scene), scene.deployment.store.cluster!];
      await cluster.kill(index);
      await sleep(pick([0, 2_000, 8_000], scene.random) * scene.scale);
      await cluster.restart(index);
    },
  },
  {
    name: 'a coordinator of a cluster killed',
    store: 'cluster',
    inject: async ({ deployment, random, harm }) => {
      const { part } = pick(deployment.coordinators, random);
      harm(part.name, 'probes');
      await part.kill();
      part.start();
      await part.started();
    },
  },
  {
    name: 'an agent of a cluster stands still',
    store: 'cluster',
    inject: async (scene) => {
      scene.harm('probes');
      await pick(scene.deployment.agents, scene.random).part.pause(stillMs(scene));
    },
  },
];

function pickMaster({ deployment, random }: Scene): number {
  return Math.floor(random() * deployment.store.cluster!.nodes.length);
}
