import { isOpenToAll, type NodeOutcome } from '../../probes/access/redis-users.ts';
import type { RedisNodes } from '../../probes/access/redis-nodes.ts';
import type { ProbeRecords } from '../../probes/registry/probe-records.ts';
import type { AdminConfig } from '../config.ts';
import type { AdminResult } from '../output.ts';

export interface AdminParts extends Omit<RedisNodes, 'close'> {
  readonly records: ProbeRecords;
  readonly config: AdminConfig;
}

/**
 * Reports the outcome on every node, and warns of users that a restart loses and of a default user without a password.
 */
export async function outcome(
  { redis, nodes: asked, unreachable, cluster }: AdminParts,
  nodes: readonly NodeOutcome[],
  warnings: readonly string[],
): Promise<Pick<AdminResult, 'nodes' | 'warnings' | 'done'>> {
  const all = [...nodes, ...unreachable.map(({ name, why }) => ({ node: name, fault: why, saved: false }))];
  const unsaved = nodes.filter(({ fault, saved }) => fault === null && !saved).map(({ node }) => node);
  const isOpen = await isOpenToAll(cluster ? asked[0]!.redis : redis).catch(() => false);
  return {
    nodes: all,
    done: all.every(({ fault }) => fault === null),
    warnings: [
      ...warnings,
      ...(unsaved.length === 0
        ? []
        : [`${unsaved.join(', ')} has no ACL file (aclfile in redis.conf): users are lost when it restarts.`]),
      ...(isOpen
        ? ['The default user of Redis needs no password: every client that reaches Redis has its rights.']
        : []),
    ],
  };
}
