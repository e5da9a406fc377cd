import { setTimeout as sleep } from 'node:timers/promises';

import { standStill } from '../processes.ts';
import { anyCoordinator, childrenOf, pickAgent, pickCoordinator, stillMs, type Fault } from './fault.ts';
import { noBrowser, screenshotCheck } from './screenshots.ts';

/** Processes stop and continue, as after a VM migration, `docker pause`, swapping or a closed lid. */
export const standStills: readonly Fault[] = [
  {
    name: 'Redis stands still',
    store: 'single',
    inject: async (scene) => {
      scene.harm('store');
      await standStill(await scene.deployment.store.masterPid(), stillMs(scene));
    },
  },
  {
    name: 'a coordinator stands still',
    inject: async (scene) => {
      // When the coordinator continues, all requests from the meantime reach the probes at once.
      scene.harm('probes');
      await pickCoordinator(scene).part.pause(stillMs(scene));
    },
  },
  {
    name: 'both coordinators stand still',
    inject: async (scene) => {
      const ms = stillMs(scene);
      const { coordinators } = scene.deployment;
      scene.harm('probes', ...coordinators.map(({ part }) => part.name));
      await Promise.all(coordinators.map(({ part }) => part.pause(ms)));
    },
  },
  {
    name: 'an agent stands still',
    inject: async (scene) => pickAgent(scene).part.pause(stillMs(scene)),
  },
  {
    name: 'all agents stand still',
    inject: async (scene) => {
      const ms = stillMs(scene);
      scene.harm('probes');
      await Promise.all(scene.deployment.agents.map(({ part }) => part.pause(ms)));
    },
  },
  {
    name: 'a packet process stands still',
    inject: async (scene) => {
      const [pid] = childrenOf(pickAgent(scene), /packet-process/);
      await standStill(pid, stillMs(scene));
    },
  },
  {
    name: 'a browser stands still',
    impossible: noBrowser,
    inject: async (scene) => {
      await scene.observer.burst(anyCoordinator(scene), 2, screenshotCheck(scene.deployment));
      const pids = childrenOf(pickAgent(scene), /chrom|headless/);
      const ms = stillMs(scene);
      await Promise.all(pids.map((pid) => standStill(pid, ms)));
    },
  },
  {
    name: 'agent comes back to an old backlog',
    inject: async (scene) => {
      const pausing = pickAgent(scene).part.pause(9_000 * scene.scale);
      await scene.observer.burst(anyCoordinator(scene), 6);
      await pausing;
    },
  },
  {
    name: 'an agent stands still again and again',
    inject: async (scene) => {
      const { part } = pickAgent(scene);
      for (let times = 0; times < 6; times += 1) {
        await part.pause(scene.random() * 2_000 * scene.scale);
        await sleep(scene.random() * 500 * scene.scale);
      }
    },
  },
];
