import { findRedisServer, startRedisServer } from '@vantage/redis-server';

import { dispatch, type AgentLink } from './dispatch.ts';

/** Measures dispatch from the service's end of a link, and sends the figures. */
const [, , link = '', length] = process.argv;

const executable = findRedisServer(process.env['PATH'] ?? '');
if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
// Agents come over the link, from another network namespace.
const redis = await startRedisServer({ executable, arguments: ['--bind', '0.0.0.0', '--protected-mode', 'no'] });
try {
  process.send!(await dispatch(redis, length === 'quick', JSON.parse(link) as AgentLink));
} finally {
  await redis.stop();
  process.disconnect();
}
