import { setTimeout as sleep } from 'node:timers/promises';

import type { Host } from '../host.ts';
import { pick, pickAgent, pickCoordinator, type Fault, type Scene } from './fault.ts';

const STEPS_MS = [-3_600_000, -30_000, -2_000, 2_000, 30_000, 3_600_000];

/** Clocks step while their processes run, and step back. */
export const clocks: readonly Fault[] = [
  stepped('an agent', (scene) => pickAgent(scene).host),
  stepped('a coordinator', (scene) => pickCoordinator(scene).host),
  {
    ...stepped('Redis', ({ deployment, harm }) => {
      harm('store', 'clock', 'probes');
      return deployment.store.host;
    }),
    store: 'single',
  },
];

function stepped(whose: string, hostOf: (scene: Scene) => Host | undefined): Fault {
  return {
    name: `the clock of ${whose} steps`,
    impossible: ({ coordinators }) => (coordinators[0]!.host === undefined ? 'a clock needs a C compiler' : undefined),
    inject: async (scene) => {
      const host = hostOf(scene);
      host?.stepClock(pick(STEPS_MS, scene.random));
      await sleep(8_000 * scene.scale);
      host?.stepClock(0);
    },
  };
}
