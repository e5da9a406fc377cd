import { agentEnvironment } from '../probes/access/agent-environment.ts';
import { hashPassword, newPassword, writeUser } from '../probes/access/redis-users.ts';
import { openRedisNodes } from '../probes/access/redis-nodes.ts';

/**
 * Writes Redis users with new passwords, which replace those of existing users.
 *
 * @returns the `REDIS_URL` for the agent of each probe
 * @throws if Redis is unreachable or does not allow the creation of users
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
