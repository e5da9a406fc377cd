import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** A file system in memory that only one program sees: it ends with it. */
export interface SmallDisk {
  /** The command that makes it and becomes the program that follows. */
  readonly prefix: readonly string[];
  /** The same, full from the start. */
  readonly fullPrefix: readonly string[];
  /** @param pid of that program */
  readonly fill: (pid: number) => void;
  readonly free: (pid: number) => void;
}

/** Without root in a user namespace, where the kernel allows it. */
const unshare = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount'];

/** True where a program can be given a disk of its own; in CI it must be so. */
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
      // In large pieces, and then to the last page.
      for (const bytes of [65_536, 4_096]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(bytes));
        } catch {
          // Full.
        }
      }
      closeSync(file);
    },
    free: (pid) => rmSync(filler(pid)),
  };
}
