import { readlink, statfs } from 'node:fs/promises';

import { count, error, ok, sizeOf, warning, type DoctorFinding } from '../finding.ts';
import { numberOf, type RedisFacts } from './redis-facts.ts';

const LITTLE_BYTES = 1_073_741_824;
const TOO_LITTLE_BYTES = 64 * 1_048_576;
/** File systems without a disk, by their numbers in statfs(2): tmpfs and ramfs. */
const memoryTypes: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);
const FEW_INODES = 100;
/**
 * Free inodes below which the finding is an error: Redis creates files to rewrite its append-only file and to save its
 * users.
 */
const TOO_FEW_INODES = 8;

/**
 * Checks the disk of Redis if it runs on this machine; elsewhere, only refused writes are visible. The append-only file
 * is rewritten next to the old one, so the free space should be at least the memory of Redis.
 */
export async function checkDisk(facts: RedisFacts): Promise<readonly DoctorFinding[]> {
  const folder = facts.config?.get('dir');
  const left = folder === undefined ? undefined : await readLeft(folder, numberOf(facts, 'process_id'));
  if (folder === undefined || left === undefined) return [];
  return [spaceOf(folder, left.bytes, facts), ...inodesOf(folder, left.inodes), ...memoryOf(folder, left.isMemory)];
}

/** Warns of an append-only file in memory: it survives a restart of Redis, but not one of its machine or container. */
function memoryOf(folder: string, isMemory: boolean): readonly DoctorFinding[] {
  if (!isMemory) return [];
  return [
    warning(
      'disk',
      `The disk of Redis (${folder}) is memory (tmpfs): a restart of its machine or container loses probes, API keys and monitors.`,
      'Set dir to a folder on a disk, in a container to one of a volume.',
    ),
  ];
}

function spaceOf(folder: string, free: number, facts: RedisFacts): DoctorFinding {
  const used = numberOf(facts, 'used_memory') ?? 0;
  const message = `The disk of Redis (${folder}) has ${sizeOf(free)} free.`;
  const remedy =
    'Free space, or move the folder to a larger disk: on a full disk Redis refuses writes, and checks get 503.';
  if (free < TOO_LITTLE_BYTES) return error('disk', message, remedy);
  if (free < used) {
    return warning('disk', `${message} A rewrite of the append-only file may need ${sizeOf(used)}.`, remedy);
  }
  return free < LITTLE_BYTES ? warning('disk', message, remedy) : ok('disk', message);
}

function inodesOf(folder: string, inodes: number): readonly DoctorFinding[] {
  if (inodes >= FEW_INODES) return [];
  const message = `The disk of Redis (${folder}) has ${count(inodes, 'inode')} left.`;
  const remedy =
    'Remove files: without inodes Redis cannot rewrite its append-only file, which grows until the disk is full, nor save its users.';
  return [(inodes < TOO_FEW_INODES ? error : warning)('disk', message, remedy)];
}

/**
 * Free space and inodes of the disk of Redis. Undefined if no process here has this id and working folder: Redis runs
 * elsewhere or belongs to another user.
 */
async function readLeft(
  folder: string,
  pid: number | undefined,
): Promise<{ readonly bytes: number; readonly inodes: number; readonly isMemory: boolean } | undefined> {
  // The working folder of Redis is its data folder. This path also leads there if Redis has another mount namespace.
  const workingFolder = `/proc/${pid}/cwd`;
  try {
    if ((await readlink(workingFolder)) !== folder) return undefined;
    const { bavail, bsize, files, ffree, type } = await statfs(workingFolder);
    // File systems that allocate inodes on demand report 0.
    const inodes = files === 0 ? Infinity : ffree;
    return { bytes: bavail * bsize, inodes, isMemory: memoryTypes.has(type) };
  } catch {
    return undefined;
  }
}
