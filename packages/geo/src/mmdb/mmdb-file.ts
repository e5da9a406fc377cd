import { readFile, stat } from 'node:fs/promises';

import type { GeoLog } from '../geo-log.ts';
import { readMmdb, type Mmdb } from './mmdb.ts';

/** An operator's file that may be replaced at any time. */
export interface MmdbFile {
  readonly path: string;
  /** The last valid version of the file; `null` if there was none. */
  readonly current: () => Mmdb | null;
  /** Why the current version of the file cannot be used; null if it can. */
  readonly fault: () => string | null;
  /**
   * Reloads the file if it has changed since the last attempt. If it is invalid or missing, the last valid contents
   * are kept.
   *
   * @returns whether `current()` has changed; never rejects
   */
  readonly refresh: () => Promise<boolean>;
}

export function openMmdbFile(path: string, log: GeoLog): MmdbFile {
  let current: Mmdb | null = null;
  let fault: string | null = null;
  let tried = '';

  function fail(error: unknown): false {
    const reason = Error.isError(error) ? error.message : String(error);
    // Logs when the fault changes, not at each poll.
    if (reason !== fault) log.warn({ path, reason, kept: current?.buildDate ?? null }, 'geo data file cannot be used');
    fault = reason;
    return false;
  }

  async function refresh(): Promise<boolean> {
    let buffer;
    try {
      // The identity is read before the contents, so that a file that changes meanwhile is read again.
      const identity = await identityOf(path);
      if (identity === tried) return false;
      buffer = await readFile(path);
      tried = identity;
    } catch (error) {
      tried = '';
      return fail(error);
    }
    try {
      current = await readMmdb(buffer);
    } catch (error) {
      return fail(error);
    }
    fault = null;
    log.info({ path, databaseType: current.databaseType, buildDate: current.buildDate }, 'geo data file read');
    return true;
  }

  return { path, current: () => current, fault: () => fault, refresh };
}

/** Changes with in-place writes and renames, also with a restored old timestamp. */
async function identityOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
