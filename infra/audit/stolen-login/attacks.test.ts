import { agentRights } from '@vantage/contract';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { attacksOf } from './attacks.ts';

/** Commands whose effect does not depend on the agent. */
const harmless: ReadonlySet<string> = new Set(['cluster|slots', 'quit', 'reset']);

it('cover every command that an agent may run, and that Redis runs whatever the rights say', async () => {
  const server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const redis = new Redis(server.url);
  const known = (await redis.call('COMMAND')) as readonly (readonly [string, number, readonly string[]])[];
  redis.disconnect();
  await server.stop();
  const always = known.flatMap(([name, , flags]) => (flags.includes('no_auth') ? [name] : []));
  const rights = agentRights('thief', { cluster: true }).join(' ');
  const allowed = [...rights.matchAll(/\+([\w|]+)/g)].map(([, name]) => name!);

  const tried = new Set(
    attacksOf('thief').flatMap(({ request: [name] }) => (typeof name === 'string' ? name.toLowerCase() : [])),
  );

  expect(always).toContain('auth');
  expect([...allowed, ...always].filter((name) => !tried.has(name) && !harmless.has(name))).toEqual([]);
});
