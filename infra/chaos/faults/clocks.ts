import { setTimeout as sleep } from 'node:timers/promises';

import type { Deployment } from '../deployment.ts';
import type { Host } from '../host.ts';
import { pick, pickAgent, pickCoordinator, type Fault, type Scene } from './fault.ts';

const DAY_MS = 86_400_000;
const STEPS_MS = [-DAY_MS, -3_600_000, -30_000, -2_000, 2_000, 30_000, 3_600_000, DAY_MS];
/**
 * Excludes steps of a day, the retention of results: a step ahead would expire all of them, and the return after a step
 * back those that were stored meanwhile.
 */
const STEPS_OF_REDIS_MS = STEPS_MS.filter((stepMs) => Math.abs(stepMs) < DAY_MS);

const ofAgent = (scene: Scene): Host | undefined => pickAgent(scene).host;
const ofCoordinator = (scene: Scene): Host | undefined => pickCoordinator(scene).host;
const ofRedis = ({ deployment, harm }: Scene): Host | undefined => {
  harm('store', 'clock', 'probes');
  return deployment.store.host;
};

/** Clocks step or stop while their processes run, and show the right time again. */
export const clocks: readonly Fault[] = [
  stepped('an agent', ofAgent),
  stepped('a coordinator', ofCoordinator),
  { ...stepped('Redis', ofRedis, STEPS_OF_REDIS_MS), store: 'single' },
  stopped('an agent', ofAgent),
  stopped('a coordinator', ofCoordinator),
  { ...stopped('Redis', ofRedis), store: 'single' },
];

function stopped(whose: string, hostOf: (scene: Scene) => Host | undefined): Fault {
  return {
    name: `the clock of ${whose} stands still`,
    impossible: withoutClocks,
    inject: async (scene) => {
      const host = hostOf(scene);
      host?.stopClock(true);
      await sleep(12_000 * scene.scale);
      host?.stopClock(false);
    },
  };
}

function stepped(whose: string, hostOf: (scene: Scene) => Host | undefined, stepsMs = STEPS_MS): Fault {
  return {
    name: `the clock of ${whose} steps`,
    impossible: withoutClocks,
    inject: async (scene) => {
      const host = hostOf(scene);
      host?.stepClock(pick(stepsMs, scene.random));
      await sleep(8_000 * scene.scale);
      host?.stepClock(0);
    },
  };
}

function withoutClocks({ coordinators }: Deployment): string | undefined {
  return coordinators[0]!.host === undefined ? 'a clock needs a C compiler' : undefined;
}
