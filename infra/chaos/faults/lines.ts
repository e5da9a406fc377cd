import { setTimeout as sleep } from 'node:timers/promises';

import type { DeployedAgent, Coordinator } from '../deployment.ts';
import type { Link } from '../link.ts';
import { partition, partitionImpossible } from '../partition.ts';
import { pick, pickAgent, pickCoordinator, pickRedisAgent, type Fault, type Scene } from './fault.ts';

/** Faults of the connections to Redis, and of agents' connections to their gateways. */
export const lines: readonly Fault[] = [
  {
    name: 'connections cut',
    store: 'single',
    inject: async ({ deployment, random, scale, harm }) => {
      for (let times = 0; times < 4; times += 1) {
        const end = pick([...deployment.agents, ...deployment.coordinators], random);
        harm('probes', end.part.name);
        (end.link ?? lineOf(end))?.cut();
        await sleep(300 * scale);
      }
    },
  },
  {
    name: 'half-open connections',
    store: 'single',
    inject: async (scene) => {
      // At most one coordinator and one agent: if no coordinator reaches Redis, the service cannot start checks.
      const agent = pickAgent(scene);
      const links = [pickCoordinator(scene).link, agent.link ?? agent.line];
      for (const link of links) link?.silence();
      await sleep(7_000 * scene.scale);
      for (const link of links) link?.mend();
      await sleep(1_000 * scene.scale);
    },
  },
  {
    name: 'connections slow by 250 ms',
    store: 'single',
    inject: async ({ deployment, scale, harm }) => {
      const ends = [...deployment.agents, ...deployment.coordinators];
      harm('store');
      for (const end of ends) (end.link ?? lineOf(end))?.delay(125);
      await sleep(5_000 * scale);
      for (const end of ends) (end.link ?? lineOf(end))?.mend();
    },
  },
  oneWay('from a coordinator to Redis', (scene) => partition.dropTo(pickCoordinator(scene).link!.port)),
  oneWay('from Redis to a coordinator', (scene) => partition.dropFrom(pickCoordinator(scene).link!.port)),
  oneWay('from an agent to Redis', (scene) => partition.dropTo(pickRedisAgent(scene).link!.port)),
  oneWay('from Redis to an agent', (scene) => partition.dropFrom(pickRedisAgent(scene).link!.port)),
  oneWay('from all agents to Redis', async (scene) => {
    scene.harm('probes');
    for (const { link } of scene.deployment.agents) if (link !== undefined) await partition.dropTo(link.port);
  }),
];

function lineOf(end: DeployedAgent | Coordinator): Link | undefined {
  return 'line' in end ? end.line : undefined;
}

function oneWay(what: string, drop: (scene: Scene) => Promise<void>): Fault {
  return {
    name: `nothing arrives ${what}`,
    store: 'single',
    impossible: partitionImpossible,
    inject: async (scene) => {
      await drop(scene);
      await sleep(pick([500, 3_000, 8_000, 20_000], scene.random) * scene.scale);
      await partition.mend();
    },
  };
}
