import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the service itself gets into its Redis; agents have users of their own. */
export interface RedisLogin {
  readonly password: string;
  /** Redis' file of users. */
  readonly aclFile: string;
}

/**
 * The password of the default user of a Redis of our own, made once and kept beside its data for whoever may read that too.
 * Other programs of this machine reach the port, and get no further.
 */
export function takeRedisLogin(redisFolder: string): RedisLogin {
  const passwordFile = join(redisFolder, 'password');
  const aclFile = join(redisFolder, 'users.acl');
  const known = read(passwordFile)?.trim() ?? '';
  const password = known === '' ? randomBytes(24).toString('base64url') : known;
  if (known === '') write(passwordFile, `${password}\n`);
  const others = (read(aclFile) ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('user default '));
  const hash = createHash('sha256').update(password).digest('hex');
  write(aclFile, [`user default on #${hash} ~* &* +@all`, ...others, ''].join('\n'));
  return { password, aclFile };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whole or not at all: Redis does not start on half of it. */
function write(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
