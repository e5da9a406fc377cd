import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';

/** A file system in memory in the program's own mount namespace; it disappears with the program. */
export interface SmallDisk {
  /** Command prefix that creates the disk and executes the program. */
  readonly prefix: readonly string[];
  /** Same as `prefix`, with a disk that is full from the start. */
  readonly fullPrefix: readonly string[];
  /** Fills the disk. @param pid of the program */
  readonly fill: (pid: number) => void;
  readonly free: (pid: number) => void;
  /** Creates files until there is no inode left. */
  readonly fillInodes: (pid: number) => void;
  readonly freeInodes: (pid: number) => void;
}

/** Mounts need root, or a user namespace if the kernel permits it. */
const unshare = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount'];

/** True if mount namespaces are available; required in CI. */
export const canMount =
  process.env['CI'] !== undefined ||
  spawnSync(unshare[0]!, [...unshare.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

export function smallDisk(folder: string, mebibytes: number, inodes = 1_024): SmallDisk {
  const mount = `mount -t tmpfs -o size=${mebibytes}m,nr_inodes=${inodes} tmpfs "$0"`;
  const fill = `head -c ${mebibytes + 1}m /dev/zero > "$0/filler" 2> /dev/null`;
  const root = (pid: number): string => `/proc/${pid}/root${folder}`;
  const filler = (pid: number): string => `${root(pid)}/filler`;
  return {
    prefix: [...unshare, 'sh', '-c', `${mount} && exec "$@"`, folder],
    fullPrefix: [...unshare, 'sh', '-c', `${mount} && mkdir "$0/data" && { ${fill}; exec "$@"; }`, folder],
    fill: (pid) => {
      const file = openSync(filler(pid), 'w');
      // Large blocks first, then single pages until the disk is full.
      for (const bytes of [65_536, 4_096]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(bytes));
        } catch {
          // Expected: no space left.
        }
      }
      closeSync(file);
    },
    free: (pid) => rmSync(filler(pid)),
    fillInodes: (pid) => {
      try {
        for (let number = 0; ; number += 1) writeFileSync(`${filler(pid)}-${number}`, '');
      } catch {
        // Expected: no inode left.
      }
    },
    freeInodes: (pid) => {
      for (const name of readdirSync(root(pid))) if (name.startsWith('filler-')) rmSync(`${root(pid)}/${name}`);
    },
  };
}
