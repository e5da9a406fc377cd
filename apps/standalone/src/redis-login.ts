import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Credentials of the service; each agent has its own Redis user. */
export interface RedisLogin {
  readonly password: string;
  readonly aclFile: string;
}

/**
 * Password of the default user of our own Redis: generated once and stored next to its data, for its owner alone. Other
 * local users can reach the port, but not log in.
 */
export function openRedisLogin(redisFolder: string): RedisLogin {
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

/** Atomic: Redis does not start with a truncated file. */
function write(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
