import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';

import type { Figure } from '../goals.ts';
import { burst } from './burst.ts';
import { commands } from './commands.ts';
import { container } from './container.ts';
import { dispatch } from './dispatch.ts';
import { dispatchOverLink } from './dispatch-over-link.ts';
import { idleAgents } from './idle-agents.ts';
import { lostGateway } from './lost-gateway.ts';

type Part = (redis: RedisServer, quick: boolean) => Promise<readonly Figure[]>;

/** Parts that need a container engine run only if they are named. */
const NEEDS_ENGINE: ReadonlySet<string> = new Set(['container']);

const parts = {
  idle: idleAgents,
  dispatch: (redis, quick) => dispatch(redis, quick),
  link: (_redis, quick) => dispatchOverLink(quick),
  lost: lostGateway,
  burst,
  commands,
  container,
} as const satisfies Readonly<Record<string, Part>>;

/**
 * Agents at a gateway: cost of idle ones, dispatch delay, jobs lost when a gateway is killed, results in a burst, and
 * the operator's commands.
 *
 * @param only names of parts, separated by commas; without it all that need no container engine are run
 */
export async function gateway(quick: boolean, only?: string): Promise<readonly Figure[]> {
  const names = only?.split(',') ?? Object.keys(parts).filter((name) => !NEEDS_ENGINE.has(name));
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) {
    throw new Error(`unknown part "${unknown}"; expected one of ${Object.keys(parts).join(', ')}`);
  }
  const chosen = Object.entries<Part>(parts).filter(([name]) => names.includes(name));
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  const figures: Figure[] = [];
  for (const [, part] of chosen) {
    const redis = await startRedisServer({ executable });
    try {
      figures.push(...(await part(redis, quick)));
    } finally {
      await redis.stop();
    }
  }
  return figures;
}
