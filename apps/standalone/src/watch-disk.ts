import { statfs } from 'node:fs/promises';

/** Below this, Redis and the logs cannot write. */
const FULL_BYTES = 65_536;
/** Hysteresis: above this, writing can continue. */
const ROOM_BYTES = 1_048_576;
const LOOK_EVERY_MS = 1_000;

export interface DiskWatch {
  readonly report: (line: string) => void;
  /** Called when the disk has space again. */
  readonly onSpaceAvailable: () => void;
}

/**
 * Reports once when the disk is full, and once when it has space again.
 *
 * @returns stops the watch
 */
export function watchDisk(folder: string, { report, onSpaceAvailable }: DiskWatch): () => void {
  let isFull = false;
  const look = async (): Promise<void> => {
    const bytes = await freeBytes(folder);
    if (!isFull && bytes < FULL_BYTES) {
      isFull = true;
      report(`The disk of ${folder} is full: new checks are refused and log lines are lost until there is room.`);
    } else if (isFull && bytes >= ROOM_BYTES) {
      isFull = false;
      report(`The disk of ${folder} has room again: checks are taken as before.`);
      onSpaceAvailable();
    }
  };
  // A missing folder is not a full disk.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** @throws Error with a sentence for the user if the folder is not writable */
export async function refuseFullDisk(folder: string): Promise<void> {
  if ((await freeBytes(folder)) >= FULL_BYTES) return;
  throw new Error(`The disk of ${folder} is full.\nMake room, or choose another folder with --data.`);
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  // File systems reserve blocks for root.
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}
