import { setTimeout as sleep } from 'node:timers/promises';

import { untilProbesAreUp } from '../../trial-probes.ts';
import type { Deployment } from '../deployment.ts';
import type { Fault } from './fault.ts';

/** A master and a replica, watched by Sentinels. */
export const failOvers: readonly Fault[] = [
  {
    name: 'two masters after a fail-over by Sentinel',
    store: 'sentinel',
    inject: async ({ deployment, harm }) => {
      harm('store', 'probes');
      const before = await deployment.store.masterPort();
      const pid = await deployment.store.masterPid();
      process.kill(pid, 'SIGSTOP');
      await untilMasterIsNot(before, deployment);
      // It acts as master until a Sentinel reconfigures it, and its clients believe it.
      process.kill(pid, 'SIGCONT');
      await sleep(15_000);
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
];

async function untilMasterIsNot(port: number, { store }: Deployment): Promise<void> {
  while ((await store.masterPort()) === port) await sleep(50);
}
