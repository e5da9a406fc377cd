import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { createDurable, moveDurable } from './durable-files.ts';

/** Key of an agent, and the digest of the token that it was made for. */
export interface StoredKey {
  readonly probeId: string;
  readonly privateKey: KeyObject;
  /** Raw, base64url. */
  readonly publicKey: string;
  readonly tokenDigest: string;
}

/** The key in use, and one that the service has not confirmed yet. */
export interface KeyFiles {
  readonly read: (which: 'current' | 'next') => Promise<StoredKey | undefined>;
  /** Creates the next key, unless there is one for the same token, which another process may have made. */
  readonly create: (probeId: string, tokenDigest: string) => Promise<StoredKey>;
  /** Makes the next key the current one. */
  readonly confirm: () => Promise<void>;
  readonly dropNext: () => Promise<void>;
}

/** @param folder exists, and only its owner may read it */
export function openKeyFiles(folder: string): KeyFiles {
  const paths = { current: join(folder, 'key.json'), next: join(folder, 'key.next.json') } as const;
  const dropNext = (): Promise<void> => rm(paths.next, { force: true });
  const read: KeyFiles['read'] = (which) => readKey(paths[which]);
  return {
    read,
    create: async (probeId, tokenDigest) => {
      for (;;) {
        const known = await read('next');
        if (known?.tokenDigest === tokenDigest) return known;
        if (known !== undefined) await dropNext();
        const { privateKey } = generateKeyPairSync('ed25519');
        const text = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
        await createDurable(paths.next, `${JSON.stringify({ v: 1, probeId, privateKey: text, tokenDigest })}\n`);
      }
    },
    confirm: async () => {
      if ((await read('next')) !== undefined) await moveDurable(paths.next, paths.current);
    },
    dropNext,
  };
}

async function readKey(path: string): Promise<StoredKey | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (Error.isError(error) && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  // A backup or a copy may have widened the permissions.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
  try {
    const stored = JSON.parse(text) as Readonly<Record<string, string>>;
    const key = Buffer.from(stored['privateKey'] ?? '', 'base64');
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    const publicKey = String(createPublicKey(privateKey).export({ format: 'jwk' }).x);
    return { privateKey, publicKey, probeId: stored['probeId'] ?? '', tokenDigest: stored['tokenDigest'] ?? '' };
  } catch (error) {
    throw new Error(`${path} is not a key of an agent; remove it and start with another token`, { cause: error });
  }
}
