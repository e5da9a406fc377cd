import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Finds Redis or Valkey on PATH, in `/usr/bin` or in `/usr/local/bin`; undefined if there is none. `redis-check-rdb` is
 * the same executable under another name; Debian's redis-tools contains it without starting a daemon.
 */
export function findRedisServer(path: string): string | undefined {
  return ['redis-server', 'valkey-server', 'redis-check-rdb']
    .flatMap((name) => [...path.split(delimiter), '/usr/bin', '/usr/local/bin'].map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
