import { redisUntil } from './redis.ts';
import type { Agent, Coordinator, Deployment } from '../deployment.ts';
import type { GatewayLine } from '../gateway-line.ts';
import type { Observer } from '../observer.ts';
import { descendantsOf } from '../processes.ts';
import type { StoreKind } from '../store.ts';

/** Something that goes wrong, done for real, and undone before it returns. */
export interface Fault {
  readonly name: string;
  /** The store that it needs; by default a single server or any. */
  readonly store?: StoreKind;
  /** Why it cannot be had in this deployment, or undefined. */
  readonly impossible?: (deployment: Deployment) => Promise<string | undefined> | string | undefined;
  readonly inject: (scene: Scene) => Promise<void>;
}

export interface Scene {
  readonly deployment: Deployment;
  readonly observer: Observer;
  /** Decides what is done, and to which process; a seed fixes it. */
  readonly random: () => number;
  /** How long what lasts a while lasts: 1 as the name says, less for a short trial. */
  readonly scale: number;
  /**
   * Says what the fault touches, before it does: `store`, its `clock`, `probes`, or a coordinator by its name. What depends on that may
   * refuse, nothing else.
   */
  readonly harm: (...touched: readonly string[]) => void;
  /** Says what the service should have done against the fault by now: a promise that it broke. */
  readonly unended: (text: string) => void;
}

export function pickAgent({ deployment, random, harm }: Scene): Agent {
  harm('probes');
  return pick(deployment.agents, random);
}

export function pickRedisAgent({ deployment, random, harm }: Scene): Agent {
  harm('probes');
  return pick(
    deployment.agents.filter(({ line }) => line === undefined),
    random,
  );
}

/** An agent that is connected to a gateway, its line, and the coordinator at the end of it. */
export interface AtGateway {
  readonly agent: Agent;
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

/** A coordinator to send checks to: nothing happens to it. */
export function anyCoordinator({ deployment, random }: Scene): Coordinator {
  return pick(deployment.coordinators, random);
}

export function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

/** As long as a machine that migrates, swaps or has its lid closed: each of these is met as often. */
export function stillMs({ random, scale }: Scene): number {
  return pick([500, 2_000, 5_000, 8_000, 15_000, 30_000, 60_000], random) * scale;
}

/** Processes of an agent by their command line. */
export function childrenOf(agent: Agent, command: RegExp): readonly number[] {
  const pid = agent.part.pid();
  if (pid === undefined) return [];
  return descendantsOf(pid).flatMap((child) => (command.test(child.command) ? [child.pid] : []));
}

export async function configure(deployment: Deployment, name: string, value: string): Promise<void> {
  await redisUntil(deployment, (redis) => redis.config('SET', name, value));
}
