import { probeOfToken, redisKeys, type EnrolmentRefusal, type LookUpPlace, type Place } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import { readAccess, type AgentAccess } from './agent-access.ts';
import { admitScript } from './access-scripts.ts';
import { changeAccess } from './change-access.ts';
import { digestOf, fingerprintOf, verifySignature } from './verify-signature.ts';

/** Proof of an agent's key, in the first message of the agent. */
export interface AgentProof {
  readonly probeId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly signature: string;
  /** Token of an invitation, if the agent sends one. */
  readonly token?: string | undefined;
}

export type AgentAdmission =
  | {
      readonly ok: true;
      /** `waiting`: for the approval of the operator. */
      readonly state: 'approved' | 'waiting';
      readonly fingerprint: string;
      /** How often the probe was suspended before. */
      readonly suspensions: number;
      /** True if this connection enrolled the key. */
      readonly enrolledNow: boolean;
    }
  | { readonly ok: false; readonly code: EnrolmentRefusal };

/** Identity of agents, for gateways. */
export interface Enrolment {
  /** Origin of the public URL of the service, which the signature of an agent covers. */
  readonly origin: string;
  /**
   * Verifies the proof of an agent, enrols its key if its token allows that, and records its counter.
   *
   * @param nonce random bytes sent on this connection, base64url
   * @param address canonical address of the agent
   * @throws StoreUnavailable
   */
  readonly authenticate: (proof: AgentProof, nonce: string, address: string) => Promise<AgentAdmission>;
  /** @throws StoreUnavailable */
  readonly accessOf: (probeId: string) => Promise<AgentAccess>;
  /**
   * Records why the agent of a probe is refused, such as a release that is too old; null clears it.
   *
   * @throws StoreUnavailable
   */
  readonly noteRefusal: (probeId: string, reason: string | null) => Promise<void>;
}

export interface EnrolmentDependencies {
  readonly redis: Redis;
  /** Origin of the service's public URL. */
  readonly origin: string;
  readonly lookUpPlace: LookUpPlace;
}

const PROBE_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
const MAX_REASON_CHARACTERS = 512;

export function createEnrolment({ redis, origin, lookUpPlace }: EnrolmentDependencies): Enrolment {
  return {
    origin,
    authenticate: async ({ probeId, publicKey, counter, signature, token }, nonce, address) => {
      if (!PROBE_ID.test(probeId) || !Number.isSafeInteger(counter) || counter < 1) return refused('bad-signature');
      // The signature covers the digest, so that an intermediary can neither add nor replace the token.
      const tokenDigest = token === undefined ? undefined : digestOf(token);
      const challenge = { origin, probeId, nonce, counter, publicKey, tokenDigest };
      if (!verifySignature(challenge, signature)) return refused('bad-signature');
      if (token !== undefined && probeOfToken(token) !== probeId) return refused('token-invalid');
      const fingerprint = fingerprintOf(publicKey);
      const keys = [redisKeys.agentAccess, redisKeys.agentChanges, redisKeys.agentKey(probeId)];
      const reply = (await onStore(redis, (ready) =>
        runScript(
          ready,
          admitScript,
          [...keys, redisKeys.agentCounters(probeId), redisKeys.invitations(probeId)],
          [
            probeId,
            redisKeys.agentChanged,
            publicKey,
            fingerprint,
            counter,
            tokenDigest ?? '',
            address,
            JSON.stringify(suggestionOf(lookUpPlace(address))),
          ],
        ),
      )) as readonly [code?: string, state?: string, enrolled?: string, suspensions?: number];
      const [code = '', state, enrolled, suspensions = 0] = reply;
      if (code !== '') return refused(code as EnrolmentRefusal);
      return {
        ok: true,
        fingerprint,
        suspensions,
        enrolledNow: enrolled === '1',
        state: state === 'waiting' ? 'waiting' : 'approved',
      };
    },
    accessOf: async (probeId) =>
      readAccess(await onStore(redis, (ready) => ready.hget(redisKeys.agentAccess, probeId))),
    noteRefusal: async (probeId, reason) => {
      const text = (reason ?? '').slice(0, MAX_REASON_CHARACTERS);
      await onStore(redis, (ready) => changeAccess(ready, probeId, 'refuse', text));
    },
  };
}

/** Fields that a probe record can adopt. */
function suggestionOf({ countryCode, city, latitude, longitude, isp, asn }: Place): Partial<Place> {
  return { countryCode, city, latitude, longitude, isp, asn };
}

function refused(code: EnrolmentRefusal): AgentAdmission {
  return { ok: false, code };
}
