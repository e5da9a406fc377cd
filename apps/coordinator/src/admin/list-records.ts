import { agentUser, redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readUser } from '../probes/access/redis-users.ts';
import { NO_ACCESS } from '../probes/enrolment/agent-access.ts';
import { readMetricsAddresses } from '../probes/metrics-addresses.ts';
import { describeAgent, type KnownProbe } from '../probes/registry/probe-status.ts';
import { readPlace } from './agents/agent-commands.ts';
import type { AdminParts } from './credentials/outcome.ts';
import { readKnownProbes } from './known-probes.ts';
import type { AdminResult } from './output.ts';

/**
 * Returns a line for each probe: its record, agent and metrics address. `data` also has the name of its Redis user, why
 * coordinators disabled that user, and its state on each node.
 */
export async function listRecords({ redis, nodes, unreachable, limited }: AdminParts): Promise<AdminResult> {
  const addresses = await readMetricsAddresses(redis);
  const probes = await Promise.all(
    (await readKnownProbes(redis)).map(async (probe) => ({
      ...probe.record,
      metrics: addresses.get(probe.record.id) ?? null,
      agent: await listAgent(redis, probe),
      user: agentUser(probe.record.id),
      switchedOff: probe.switchedOff ?? null,
      nodes: await Promise.all(
        (limited ? [] : nodes).map(async (node) => {
          const state = await readUser(node.redis, probe.record.id);
          return { node: node.name, state: state === undefined ? 'missing' : state.on ? 'on' : 'off' };
        }),
      ),
    })),
  );
  const warnings = unreachable.map(({ name, why }) => `${name} cannot be reached: ${why}`);
  const lines = probes.map(({ user: _user, switchedOff: _off, nodes: _nodes, ...line }) => JSON.stringify(line));
  return { said: [], warnings, done: true, data: { probes }, lines };
}

/** The agent of a probe for `probe:list`. If the agent has a key, there are also fields that only operators see. */
async function listAgent(redis: Redis, probe: KnownProbe): Promise<object> {
  const { key, copied } = probe.access ?? NO_ACCESS;
  const agent = { ...describeAgent(probe), key };
  if (key === null) return agent;
  const seen = await redis.hgetall(redisKeys.agentKey(probe.record.id));
  const at = (field: string): string | null =>
    seen[field] === undefined ? null : new Date(Number(seen[field])).toISOString();
  return {
    ...agent,
    copied: copied === null ? null : { at: new Date(copied.at).toISOString(), address: seen['copyAddress'] ?? null },
    enrolledAt: at('enrolledAt'),
    connectedAt: at('connectedAt'),
    address: seen['address'] ?? null,
    suggestedPlace: readPlace(seen['place']) ?? null,
  };
}
