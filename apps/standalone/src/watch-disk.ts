import { statfs } from 'node:fs/promises';

const POLL_INTERVAL_MS = 1_000;

/** A resource of a file system that programs can use up. */
interface Resource {
  readonly name: 'space' | 'inodes';
  /**
   * Below `full` bytes or inodes the disk counts as full, from `room` on no longer. The gap between the two prevents
   * repeated reports.
   */
  readonly full: number;
  readonly room: number;
  readonly effect: string;
}

const resources: readonly Resource[] = [
  {
    name: 'space',
    full: 65_536,
    room: 1_048_576,
    effect: 'new checks are refused and log lines are lost until there is room',
  },
  // Redis needs four inodes to rewrite its append-only file; the limit is twice that.
  {
    name: 'inodes',
    full: 8,
    room: 16,
    effect: 'Redis cannot shorten its append-only file, which grows until there are inodes again',
  },
];

export interface DiskWatch {
  readonly report: (line: string) => void;
  /** Called when the disk has space, or inodes, again. */
  readonly onSpaceAvailable: () => void;
}

/**
 * Reports when space or inodes fall below `full`, and when they reach `room` again.
 *
 * @returns a function that stops the watch
 */
export function watchDisk(folder: string, { report, onSpaceAvailable }: DiskWatch): () => void {
  const usedUp = new Set<Resource['name']>();
  const poll = async (): Promise<void> => {
    const left = await readLeft(folder);
    for (const { name, full, room, effect } of resources) {
      if (!usedUp.has(name) && left[name] < full) {
        usedUp.add(name);
        report(`The disk of ${folder} ${name === 'space' ? 'is full' : 'has no inodes left'}: ${effect}.`);
      } else if (usedUp.has(name) && left[name] >= room) {
        usedUp.delete(name);
        report(
          `The disk of ${folder} has ${name === 'space' ? 'room again: checks are taken as before' : 'inodes again'}.`,
        );
        onSpaceAvailable();
      }
    }
  };
  // A missing folder is not a full disk.
  const timer = setInterval(() => void poll().catch(() => undefined), POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** @throws Error with a sentence for the user if the disk of the folder counts as full */
export async function refuseFullDisk(folder: string): Promise<void> {
  const left = await readLeft(folder);
  const usedUp = resources.find(({ name, full }) => left[name] < full);
  if (usedUp === undefined) return;
  const [fault, remedy] = usedUp.name === 'space' ? ['is full', 'Make room'] : ['has no inodes left', 'Remove files'];
  throw new Error(`The disk of ${folder} ${fault}.\n${remedy}, or choose another folder with --data.`);
}

async function readLeft(folder: string): Promise<Readonly<Record<Resource['name'], number>>> {
  const { bavail, bfree, bsize, files, ffree } = await statfs(folder);
  return {
    // File systems reserve blocks for root, which only `bfree` includes.
    space: (process.getuid?.() === 0 ? bfree : bavail) * bsize,
    // File systems that allocate inodes on demand report 0.
    inodes: files === 0 ? Infinity : ffree,
  };
}
