import { randomBytes } from 'node:crypto';
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Creates a file that a crash cannot leave half written. False if it exists: the existing one stays. */
export async function createDurable(path: string, content: string): Promise<boolean> {
  const draft = join(dirname(path), `.${randomBytes(8).toString('hex')}`);
  try {
    await withFile(draft, 'wx', async (file) => {
      await file.writeFile(content);
      await file.sync();
    });
    // Unlike a rename, a link never replaces what another process has just created.
    await link(draft, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Creates an empty file, which is on the disk before this resolves. False if it exists. */
export async function createEmpty(path: string): Promise<boolean> {
  try {
    await withFile(path, 'wx', (file) => file.sync());
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}

/** True for the error of a file that does not exist. */
export function isMissing(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && error.code === 'ENOENT';
}

/** True for the error of a file system without space or inodes, or of a used-up quota. */
export function isFull(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** Renames a file within its folder durably; replaces a file with the new name, and needs no inode. */
export async function moveDurable(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

function isTaken(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && error.code === 'EEXIST';
}

/** Makes creations and renames in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  await withFile(folder, 'r', (handle) => handle.sync());
}

async function withFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
