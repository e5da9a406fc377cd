import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

import type { AgentIdentity } from '@vantage/agent-loop';
import { challengeText, redisKeys, type AgentHello } from '@vantage/contract';
import { Redis } from 'ioredis';

/** The key of a simulated agent. */
export interface SimulatedKey {
  readonly probeId: string;
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function makeKey(probeId: string): SimulatedKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { probeId, publicKey: String(publicKey.export({ format: 'jwk' }).x), privateKey };
}

/** Writes the state after `probe:invite` and a first connection. Callers wait some time for the gateway to read it. */
export async function enrol(redisUrl: string, keys: readonly SimulatedKey[]): Promise<void> {
  const redis = new Redis(redisUrl);
  const now = Date.now();
  await Promise.all(
    keys.flatMap(({ probeId, publicKey }) => {
      const digest = createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('base64url');
      const access = JSON.stringify({ state: 'approved', key: `SHA256:${digest}` });
      return [
        redis.hset(redisKeys.agentAccess, probeId, access),
        redis.hset(redisKeys.agentKey(probeId), 'publicKey', publicKey, 'enrolledAt', now),
        redis.xadd(redisKeys.agentChanges, 'MAXLEN', '~', 4096, '*', 'probe', probeId),
      ];
    }),
  );
  redis.disconnect();
}

/**
 * Answers the challenge of a gateway.
 *
 * @param origin of the address that the agent connects to
 */
export function prove(
  { probeId, publicKey, privateKey }: SimulatedKey,
  origin: string,
  nonce: string,
  counter: number,
): AgentHello['proof'] {
  const text = challengeText({ origin, probeId, nonce, counter, publicKey });
  return { probeId, publicKey, counter, signature: sign(null, Buffer.from(text), privateKey).toString('base64url') };
}

/** The identity of an agent in memory. */
export function identityOf(key: SimulatedKey, origin: string): AgentIdentity {
  let counter = 0;
  return {
    probeId: () => key.probeId,
    answer: async (nonce) => prove(key, origin, nonce, (counter += 1)),
    confirmed: async () => undefined,
    refused: async (code) => (code === 'stale-counter' ? 'retry' : 'wait'),
  };
}
