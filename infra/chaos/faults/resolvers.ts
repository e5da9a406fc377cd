import { setTimeout as sleep } from 'node:timers/promises';

import { checkTypes } from '@vantage/diagnostics/contract';

import type { CheckToStart } from '../observer.ts';
import { TARGET_NAME, type Targets } from '../targets.ts';
import { anyCoordinator, pick, type Fault } from './fault.ts';

const EVERY_MS = 1_000;

/** Nothing answers at the address of the agents' resolver. */
export const resolvers: readonly Fault[] = [
  {
    name: 'the resolver of all agents is silent',
    inject: async (scene) => {
      const { deployment, observer, random, scale, harm } = scene;
      const { resolver } = deployment.targets;
      // Checks of names hold their slots for seconds while the resolver is silent.
      harm('probes');
      resolver.silence(true);
      const endsAt = performance.now() + pick([3_000, 8_000, 20_000], random) * scale;
      do {
        await observer.burst(anyCoordinator(scene), 4, namedCheck(deployment.targets));
        await sleep(EVERY_MS * scale);
      } while (performance.now() < endsAt);
      resolver.silence(false);
    },
  },
];

function namedCheck({ tcpPort: port }: Targets): CheckToStart {
  const body = { type: 'tcp', host: TARGET_NAME, port, options: { attempts: 1 } } as const;
  return { body, budgetMs: checkTypes.tcp.budgetMs(body) };
}
