import { ok, sizeOf, warning, type DoctorFinding } from '../finding.ts';
import type { RedisFacts } from './redis-facts.ts';

const SMALLEST_PUBSUB_BYTES = 32 * 1_048_576;

/**
 * Checks `client-output-buffer-limit`, for example `normal 0 0 0 slave … pubsub 33554432 8388608 60`: hard limit, soft
 * limit and seconds of each class.
 */
export function checkOutputBuffers({ server, config }: RedisFacts): DoctorFinding {
  const text = config?.get('client-output-buffer-limit');
  if (text === undefined) {
    return warning(
      'redis.output-buffers',
      `Redis at ${server} does not show its configuration to this login (CONFIG GET), so client-output-buffer-limit was not checked.`,
      'Compare it with infra/redis/redis.conf.',
    );
  }
  const [, normal = '', pubsub = ''] = /normal (\d+) .*pubsub (\d+)/.exec(text) ?? [];
  const remedy = 'Set client-output-buffer-limit as infra/redis/redis.conf does.';
  if (normal === '0') {
    const message = `Redis at ${server} buffers replies for a client that does not read them without a limit.`;
    return warning('redis.output-buffers', message, remedy);
  }
  if (pubsub !== '0' && Number(pubsub) < SMALLEST_PUBSUB_BYTES) {
    const message = `Redis at ${server} disconnects a subscriber that is ${sizeOf(Number(pubsub))} behind: a coordinator may lose notifications under load.`;
    return warning('redis.output-buffers', message, remedy);
  }
  return ok('redis.output-buffers', `Redis at ${server} bounds the replies that wait for a client.`);
}
