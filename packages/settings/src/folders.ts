import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates the folder that a setting names, and those above it. Node's `recursive` may loop without end in `/proc`, and
 * may report a missing file for a read-only file system.
 *
 * @returns true if it was created, false if it existed
 * @throws the error of the system for the folder that could not be created
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  const parent = dirname(resolve(path));
  if (statSync(parent, { throwIfNoEntry: false }) === undefined) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing === undefined) throw error;
    if (existing.isDirectory()) return false;
    throw Object.assign(new Error(`${path} is not a folder`, { cause: error }), { code: 'ENOTDIR' });
  }
}
