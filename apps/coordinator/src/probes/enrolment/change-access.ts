import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { changeScript } from './access-scripts.ts';

/**
 * Changes the state of an agent, which gateways follow.
 *
 * @param text reason of a suspension or refusal
 * @returns the state before, '' if there was none
 */
export async function changeAccess(
  redis: Redis,
  probe: string,
  change: 'approve' | 'suspend' | 'resume' | 'refuse',
  text = '',
): Promise<string> {
  const { agentAccess, agentChanges, agentKey, agentCounters, agentChanged } = redisKeys;
  const keys = [agentAccess, agentChanges, agentKey(probe), agentCounters(probe)];
  return String(await runScript(redis, changeScript, keys, [probe, agentChanged, change, text]));
}
