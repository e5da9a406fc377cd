import { statfs } from 'node:fs/promises';

/** With less than this, Redis and the logs write nothing. */
const FULL_BYTES = 65_536;
/** Enough to go on; more than the other, so that one block to and fro is no news. */
const ROOM_BYTES = 1_048_576;
const LOOK_EVERY_MS = 1_000;

export interface DiskWatch {
  readonly report: (line: string) => void;
  /** Called when there is room after there was none. */
  readonly onRoom: () => void;
}

/**
 * Says once when the disk of a folder is full, and once when there is room again.
 *
 * @returns ends it
 */
export function watchDisk(folder: string, { report, onRoom }: DiskWatch): () => void {
  let isFull = false;
  const look = async (): Promise<void> => {
    const bytes = await freeBytes(folder);
    if (!isFull && bytes < FULL_BYTES) {
      isFull = true;
      report(`The disk of ${folder} is full: new checks are refused and log lines are lost until there is room.`);
    } else if (isFull && bytes >= ROOM_BYTES) {
      isFull = false;
      report(`The disk of ${folder} has room again: checks are taken as before.`);
      onRoom();
    }
  };
  // A folder that is gone is no full disk.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** @throws Error with a sentence for the user when nothing can be written into the folder */
export async function refuseFullDisk(folder: string): Promise<void> {
  if ((await freeBytes(folder)) >= FULL_BYTES) return;
  throw new Error(`The disk of ${folder} is full.\nMake room, or choose another folder with --data.`);
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  // Some blocks are kept for root.
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}
