import { setTimeout as sleep } from 'node:timers/promises';

import { checkTypes } from '@vantage/diagnostics/contract';

import { untilProbesAreUp } from '../../trial-probes.ts';
import type { CheckToStart } from '../observer.ts';
import { partition, partitionImpossible } from '../partition.ts';
import { noGatewayAgents, pick, pickAtGateway, stillMs, type AtGateway, type Fault, type Scene } from './fault.ts';

/** Faults of gateways and of the connections between them and their agents. */
export const gateways: readonly Fault[] = [
  {
    name: 'gateway killed',
    impossible: noGatewayAgents,
    inject: async (scene) => {
      const { gateway, agent } = pickAtGateway(scene);
      scene.harm(gateway.part.name);
      await giveJobs(scene, agent.id);
      await gateway.part.kill();
      await sleep(scene.random() * 4_000 * scene.scale);
      gateway.part.start();
      await gateway.part.started();
    },
  },
  {
    name: 'one of two gateways killed under load',
    impossible: noGatewayAgents,
    inject: async (scene) => {
      const { deployment, observer } = scene;
      const { gateway } = pickAtGateway(scene);
      scene.harm(gateway.part.name);
      const other = deployment.coordinators.find((coordinator) => coordinator !== gateway)!;
      const load = observer.burst(other, 20);
      await sleep(scene.random() * 100);
      await gateway.part.kill();
      await load;
      for (let wave = 0; wave < 5; wave += 1) {
        await observer.burst(other, 4);
        await sleep(1_000 * scene.scale);
      }
      // The agents of the killed gateway reconnect through the other one.
      await untilProbesAreUp(other.url, deployment.agents.length);
      gateway.part.start();
      await gateway.part.started();
    },
  },
  {
    name: 'gateway stands still',
    impossible: noGatewayAgents,
    inject: async (scene) => {
      const { gateway, agent } = pickAtGateway(scene);
      scene.harm(gateway.part.name);
      await giveJobs(scene, agent.id);
      await gateway.part.pause(stillMs(scene));
    },
  },
  oneWay('an agent to its gateway', ({ line }) => partition.dropTo(line.port)),
  oneWay('a gateway to its agent', ({ line }) => partition.dropFrom(line.port)),
  {
    name: 'network of an agent at a gateway gone in the middle of a job',
    impossible: impossibleHere,
    inject: async (scene) => {
      const { agent, line } = pickAtGateway(scene);
      await giveJobs(scene, agent.id);
      await partition.dropTo(line.port);
      await partition.dropFrom(line.port);
      await sleep(30_000 * scene.scale);
      await partition.mend();
    },
  },
  toRedis('a gateway to Redis', (port) => partition.dropTo(port)),
  toRedis('Redis to a gateway', (port) => partition.dropFrom(port)),
];

async function impossibleHere(deployment: Scene['deployment']): Promise<string | undefined> {
  return noGatewayAgents(deployment) ?? partitionImpossible();
}

function oneWay(what: string, drop: (at: AtGateway) => Promise<void>): Fault {
  return {
    name: `nothing arrives from ${what}`,
    impossible: impossibleHere,
    inject: async (scene) => {
      const at = pickAtGateway(scene);
      await giveJobs(scene, at.agent.id);
      await drop(at);
      await sleep(pick([500, 3_000, 8_000, 20_000, 45_000], scene.random) * scene.scale);
      await partition.mend();
    },
  };
}

function toRedis(what: string, drop: (port: number) => Promise<void>): Fault {
  return {
    name: `nothing arrives from ${what}`,
    store: 'single',
    impossible: impossibleHere,
    inject: async (scene) => {
      const { agent, gateway } = pickAtGateway(scene);
      scene.harm(gateway.part.name);
      await giveJobs(scene, agent.id);
      await drop(gateway.link!.port);
      await sleep(pick([500, 3_000, 8_000, 20_000], scene.random) * scene.scale);
      await partition.mend();
    },
  };
}

function slowCheck({ deployment }: Scene, probe: string): CheckToStart {
  const body = {
    type: 'udp',
    host: '127.0.0.1',
    port: deployment.targets.silentPort,
    options: { attempts: 1 },
  } as const;
  return { body: { ...body, probes: [probe] }, budgetMs: checkTypes.udp.budgetMs(body) };
}

/** Starts three checks of three seconds at the probe, and waits for up to a second, in which the agent begins some. */
async function giveJobs(scene: Scene, probe: string): Promise<void> {
  await scene.observer.burst(pick(scene.deployment.coordinators, scene.random), 3, slowCheck(scene, probe));
  await sleep(scene.random() * 1_000 * scene.scale);
}
