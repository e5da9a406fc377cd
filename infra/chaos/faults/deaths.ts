import { setTimeout as sleep } from 'node:timers/promises';

import { untilProbesAreUp } from '../../trial-probes.ts';
import { anyCoordinator, childrenOf, pickAgent, pickCoordinator, type Fault } from './fault.ts';
import { noBrowser, screenshotCheck } from './screenshots.ts';

/** Faults that kill processes. */
export const deaths: readonly Fault[] = [
  {
    name: 'agent killed before, while and after it works on jobs',
    inject: async (scene) => {
      const { observer, random } = scene;
      const agent = pickAgent(scene);
      await observer.burst(anyCoordinator(scene), 6);
      // By now jobs are queued or under way, some of which take three seconds.
      await sleep(random() * 30);
      await agent.part.kill();
      await observer.burst(anyCoordinator(scene), 3);
      agent.part.start();
      // The log shows the start; the list of probes does not, because a probe is offline only after fifteen seconds
      // without a heartbeat.
      await agent.part.started();
    },
  },
  {
    name: 'coordinator killed before, between and after its writes',
    inject: async (scene) => {
      const { deployment, observer, random } = scene;
      const coordinator = pickCoordinator(scene);
      const burst = observer.burst(coordinator, 12);
      await sleep(random() * 25);
      await coordinator.part.kill();
      await burst;
      coordinator.part.start();
      await untilProbesAreUp(coordinator.url, deployment.agents.length);
    },
  },
  {
    name: 'packet process killed',
    inject: async (scene) => {
      for (let times = 0; times < 3; times += 1) {
        killAll(childrenOf(pickAgent(scene), /packet-process/));
        await sleep(300);
      }
    },
  },
  {
    name: 'browser killed',
    impossible: noBrowser,
    inject: async (scene) => {
      const { deployment, observer } = scene;
      scene.harm('probes');
      await observer.burst(anyCoordinator(scene), 3, screenshotCheck(deployment));
      const giveUpAt = performance.now() + 5_000;
      for (let killed = 0; killed === 0 && performance.now() < giveUpAt; await sleep(20)) {
        for (const agent of deployment.agents) killed += killAll(childrenOf(agent, /chrom|headless/));
      }
    },
  },
  {
    name: 'rolling restart of coordinators and agents',
    inject: async ({ deployment, harm }) => {
      for (const coordinator of deployment.coordinators) {
        harm(coordinator.part.name);
        await coordinator.part.drain();
        coordinator.part.start();
        await untilProbesAreUp(coordinator.url, deployment.agents.length);
      }
      harm('probes');
      for (const agent of deployment.agents) {
        await agent.part.drain();
        agent.part.start();
        await agent.part.started();
        await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
      }
    },
  },
];

/** @returns the number of processes to which the signal was addressed, including those that had ended before */
function killAll(pids: readonly number[]): number {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
  }
  return pids.length;
}
