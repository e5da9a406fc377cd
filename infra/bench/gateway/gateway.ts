import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';

import type { Figure } from '../goals.ts';
import { commands } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { dispatchOverLink } from './dispatch-over-link.ts';
import { idleAgents } from './idle-agents.ts';
import { lostGateway } from './lost-gateway.ts';

const parts: readonly ((redis: RedisServer, quick: boolean) => Promise<readonly Figure[]>)[] = [
  idleAgents,
  (redis, quick) => dispatch(redis, quick),
  (_redis, quick) => dispatchOverLink(quick),
  lostGateway,
  commands,
];

/** Costs of agents at a gateway, their dispatch delay, and the jobs lost when a gateway is killed. */
export async function gateway(quick: boolean): Promise<readonly Figure[]> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  const figures: Figure[] = [];
  for (const part of parts) {
    const redis = await startRedisServer({ executable });
    try {
      figures.push(...(await part(redis, quick)));
    } finally {
      await redis.stop();
    }
  }
  return figures;
}
