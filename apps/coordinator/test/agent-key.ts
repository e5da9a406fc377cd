import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

import { challengeText } from '@vantage/contract';

import type { AgentProof } from '../src/probes/enrolment/enrolment.ts';

export const ORIGIN = 'https://vantage.example.com';

/** Key of a simulated agent. `prove` signs a challenge with it. */
export interface AgentKey {
  readonly publicKey: string;
  readonly prove: (
    counter: number,
    nonce: string,
    more?: { readonly token?: string; readonly origin?: string; readonly signedCounter?: number },
  ) => AgentProof;
}

export function createAgentKey(probeId: string): AgentKey {
  const { publicKey: key, privateKey } = generateKeyPairSync('ed25519');
  const publicKey = String(key.export({ format: 'jwk' }).x);
  return {
    publicKey,
    prove: (counter, nonce, { token, origin = ORIGIN, signedCounter = counter } = {}) => {
      const tokenDigest = token === undefined ? undefined : createHash('sha256').update(token).digest('hex');
      const text = challengeText({ origin, probeId, nonce, counter: signedCounter, publicKey, tokenDigest });
      const signature = sign(null, Buffer.from(text), privateKey).toString('base64url');
      return { probeId, publicKey, counter, signature, ...(token === undefined ? {} : { token }) };
    },
  };
}

export function newNonce(): string {
  return randomBytes(16).toString('base64url');
}
