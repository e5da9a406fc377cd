import { createHash, sign } from 'node:crypto';

import { challengeText, enrolmentRefusals, probeOfToken, type EnrolmentRefusal } from '@vantage/contract';
import { makeFolder } from '@vantage/settings';

import type { Logger } from 'pino';

import { openCounter } from './counter.ts';
import { openKeyFiles, type KeyFiles, type StoredKey } from './key-files.ts';

/** Message with which an agent identifies itself. */
export interface Proof {
  readonly probeId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly signature: string;
  readonly token?: string;
}

/**
 * After a refusal: reconnect after the usual delay (`retry`) or the longer one of a refusal (`wait`), or end the
 * process (`end`).
 */
export type AfterRefusal = 'retry' | 'wait' | 'end';

/** The identity of this agent at the service. */
export interface Identity {
  readonly probeId: () => string;
  /** Answers a challenge with a new counter, which is on the disk first. */
  readonly answer: (nonce: string) => Promise<Proof>;
  /** To be called when the service has accepted the latest answer, or lets the agent wait for approval. */
  readonly confirmed: () => Promise<void>;
  readonly refused: (code: EnrolmentRefusal) => Promise<AfterRefusal>;
  /** False for a counter above all that were taken in this folder: it came from a copy of the key. */
  readonly wasTaken: (counter: number) => Promise<boolean>;
}

export interface IdentityOptions {
  readonly folder: string;
  /** Address of the service; its origin is signed. */
  readonly url: string;
  readonly token: string | undefined;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Refusals that concern the key or token: another one may be accepted. */
const ofKey: ReadonlySet<EnrolmentRefusal> = new Set([
  'unknown-key',
  'unknown-probe',
  'token-invalid',
  'token-used',
  'token-expired',
]);

/** @throws if there is neither a key nor a token, the token is malformed, or the folder cannot be used */
export async function openIdentity({ folder, url, token: given, log }: IdentityOptions): Promise<Identity> {
  // Files of secrets often end with a line feed.
  const token = given?.trim();
  const here = async <T>(use: () => T | Promise<T>): Promise<T> => {
    try {
      return await use();
    } catch (error) {
      throw ofFolder(folder, error);
    }
  };
  await here(() => makeFolder(folder, 0o700));
  const files = openKeyFiles(folder);
  const counter = openCounter(folder);
  const { origin } = new URL(url);
  let using = await here(() => chooseKey(files, token, folder));
  let hasRetried = false;

  return {
    probeId: () => using.key.probeId,
    answer: async (nonce) => {
      const { key, isNext } = using;
      const presented = isNext ? token : undefined;
      const tokenDigest = presented === undefined ? undefined : digestOf(presented);
      const { probeId, publicKey, privateKey } = key;
      const signed = { origin, probeId, nonce, counter: await here(counter.next), publicKey, tokenDigest };
      const signature = sign(null, Buffer.from(challengeText(signed)), privateKey).toString('base64url');
      const proof = { probeId, publicKey, counter: signed.counter, signature };
      return presented === undefined ? proof : { ...proof, token: presented };
    },
    confirmed: async () => {
      hasRetried = false;
      if (!using.isNext) return;
      await here(files.confirm);
      using = { ...using, isNext: false };
      log.info({ probe: using.key.probeId }, 'agent enrolled');
    },
    refused: async (code) => {
      const text = enrolmentRefusals[code];
      if (code === 'stale-counter' && !hasRetried) {
        hasRetried = true;
        return 'retry';
      }
      if (!using.isNext || !ofKey.has(code)) {
        log.error({ code, origin }, text);
        return 'wait';
      }
      const current = await files.read('current');
      await files.dropNext();
      if (current === undefined) {
        log.error({ code }, text);
        return 'end';
      }
      log.warn({ code }, `VANTAGE_TOKEN refused; the agent continues with its previous key: ${text}`);
      using = { key: current, isNext: false };
      return 'retry';
    },
    wasTaken: counter.wasTaken,
  };
}

interface Using {
  readonly key: StoredKey;
  /** True until the service has confirmed the key. */
  readonly isNext: boolean;
}

/** A token for which there is no key creates a new one: in this way an operator replaces a copied key. */
async function chooseKey(files: KeyFiles, token: string | undefined, folder: string): Promise<Using> {
  const current = await files.read('current');
  if (token !== undefined) {
    const probeId = probeOfToken(token);
    if (probeId === undefined) throw new Error('VANTAGE_TOKEN is not a token of probe:invite');
    const tokenDigest = digestOf(token);
    if (current?.tokenDigest === tokenDigest) return { key: current, isNext: false };
    return { key: await files.create(probeId, tokenDigest), isNext: true };
  }
  // Without a token, a next key is used too: the answer to its enrolment may have been lost, and the token may have
  // been removed from the settings since.
  const next = current ?? (await files.read('next'));
  if (next !== undefined) return { key: next, isNext: current === undefined };
  throw new Error(`there is no key in ${folder}: set VANTAGE_TOKEN to a token of probe:invite`);
}

/** Adds the folder to the message of a system error: some errors, such as that of a full disk, name no path. */
function ofFolder(folder: string, error: unknown): unknown {
  if (!Error.isError(error) || !('code' in error)) return error;
  return new Error(`the state folder ${folder} (VANTAGE_STATE_FOLDER) cannot be used: ${error.message}`, {
    cause: error,
  });
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
