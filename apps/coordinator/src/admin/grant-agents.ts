import { agentEnvironment } from '../probes/access/agent-environment.ts';
import { hashPassword, newPassword, writeUser } from '../probes/access/redis-users.ts';
import { openRedisNodes } from '../probes/access/redis-nodes.ts';

/**
 * Gives the agents of probes Redis users of their own, with new passwords each time, for a program that starts the agents
 * itself.
 *
 * @returns the `REDIS_URL` of each probe's agent
 * @throws where Redis cannot be reached or does not let users be made
 */
export async function grantAgents(
  redisUrl: string,
  probes: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const { nodes, cluster, close } = await openRedisNodes({ url: redisUrl, listed: [], certificates: undefined });
  try {
    const granted = probes.map(async (probe) => {
      const password = newPassword();
      const outcomes = await writeUser(nodes, probe, { on: true, hashes: [hashPassword(password)] }, { cluster });
      for (const { node, fault } of outcomes) if (fault !== null) throw new Error(`${node}: ${fault}`);
      return [probe, agentEnvironment(probe, password, redisUrl, undefined).REDIS_URL] as const;
    });
    return Object.fromEntries(await Promise.all(granted));
  } finally {
    await close();
  }
}
