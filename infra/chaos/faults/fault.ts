import { redisUntil } from './redis.ts';
import type { DeployedAgent, Coordinator, Deployment } from '../deployment.ts';
import type { GatewayLine } from '../gateway-line.ts';
import type { Observer } from '../observer.ts';
import { descendantsOf } from '../processes.ts';
import type { StoreKind } from '../store.ts';

/** A fault, which `inject` causes for real and reverts before it resolves. */
export interface Fault {
  readonly name: string;
  /** The store that the fault needs. A fault without one could run on any store, and runs on a single server. */
  readonly store?: StoreKind;
  /** Why the fault cannot be injected in this deployment, or undefined. */
  readonly impossible?: (deployment: Deployment) => Promise<string | undefined> | string | undefined;
  readonly inject: (scene: Scene) => Promise<void>;
}

export interface Scene {
  readonly deployment: Deployment;
  readonly observer: Observer;
  /** Determines the action and the affected process; fixed by the seed. */
  readonly random: () => number;
  /** Factor of most durations: 1 for the nominal ones, less for a short trial. */
  readonly scale: number;
  /**
   * Called before the fault takes effect, with the parts that it affects: `store`, its `clock`, `probes`, or a
   * coordinator by its name. Only requests that depend on these parts may be refused.
   */
  readonly harm: (...touched: readonly string[]) => void;
  /** Reports a broken promise: an attack that the service did not end, or a process that did not survive. */
  readonly unended: (text: string) => void;
}

export function pickAgent({ deployment, random, harm }: Scene): DeployedAgent {
  harm('probes');
  return pick(deployment.agents, random);
}

export function pickRedisAgent({ deployment, random, harm }: Scene): DeployedAgent {
  harm('probes');
  return pick(
    deployment.agents.filter(({ line }) => line === undefined),
    random,
  );
}

/** An agent that is connected to a gateway, its line, and the coordinator at the end of it. */
export interface AtGateway {
  readonly agent: DeployedAgent;
  readonly line: GatewayLine;
  readonly gateway: Coordinator;
}

export function pickAtGateway({ deployment, random, harm }: Scene): AtGateway {
  harm('probes');
  const connected = deployment.agents.flatMap((agent) => {
    const gateway = deployment.coordinators.find(({ url }) => url === agent.line?.gateway());
    return agent.line === undefined || gateway === undefined ? [] : [{ agent, line: agent.line, gateway }];
  });
  return pick(connected, random);
}

/** Why no gateway can be harmed, or undefined. */
export function noGatewayAgents({ agents }: Deployment): string | undefined {
  return agents.some(({ line }) => line !== undefined) ? undefined : 'no agent is at a gateway';
}

export function pickCoordinator({ deployment, random, harm }: Scene): Coordinator {
  const coordinator = pick(deployment.coordinators, random);
  harm(coordinator.part.name);
  return coordinator;
}

/** Picks any coordinator to send checks to, without reporting it as harmed. */
export function anyCoordinator({ deployment, random }: Scene): Coordinator {
  return pick(deployment.coordinators, random);
}

export function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

/** A random stall, as of a migrated or swapping machine or a closed lid; milliseconds. */
export function stillMs({ random, scale }: Scene): number {
  return pick([500, 2_000, 5_000, 8_000, 15_000, 30_000, 60_000], random) * scale;
}

/** Processes of an agent by their command line. */
export function childrenOf(agent: DeployedAgent, command: RegExp): readonly number[] {
  const pid = agent.part.pid();
  if (pid === undefined) return [];
  return descendantsOf(pid).flatMap((child) => (command.test(child.command) ? [child.pid] : []));
}

export async function configure(deployment: Deployment, name: string, value: string): Promise<void> {
  await redisUntil(deployment, (redis) => redis.config('SET', name, value));
}
