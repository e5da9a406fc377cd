import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** A file system in memory in the program's own mount namespace; it disappears with the program. */
export interface SmallDisk {
  /** Command prefix that creates it and executes the program. */
  readonly prefix: readonly string[];
  /** As above, full from the start. */
  readonly fullPrefix: readonly string[];
  /** @param pid of that program */
  readonly fill: (pid: number) => void;
  readonly free: (pid: number) => void;
}

/** Without root: a user namespace, if the kernel permits it. */
const unshare = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount'];

/** True if mount namespaces are available; required in CI. */
export const canMount =
  process.env['CI'] !== undefined ||
  spawnSync(unshare[0]!, [...unshare.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

export function smallDisk(folder: string, mebibytes: number): SmallDisk {
  const mount = `mount -t tmpfs -o size=${mebibytes}m tmpfs "$0"`;
  const fill = `head -c ${mebibytes + 1}m /dev/zero > "$0/filler" 2> /dev/null`;
  const filler = (pid: number): string => `/proc/${pid}/root${folder}/filler`;
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
  };
}
