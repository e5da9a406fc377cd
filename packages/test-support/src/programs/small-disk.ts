import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';

/** A small file system in memory, in a mount namespace that ends with its holder. */
export interface SmallDisk {
  /** The process whose mount namespace it is in. */
  readonly holderPid: number;
  /** Path of the mount, for processes in other namespaces. */
  readonly path: string;
  /** Fills the disk completely. */
  readonly fill: () => void;
  readonly free: () => void;
  /** Creates files until there is no inode left. */
  readonly fillInodes: () => void;
  readonly freeInodes: () => void;
  readonly unmount: () => Promise<void>;
}

/** @returns the mounted disk; undefined without root privileges, or if the mount fails */
export async function mountSmallDisk(at: string, sizeMiB: number, inodes?: number): Promise<SmallDisk | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const limits = `size=${sizeMiB}m${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`;
  const mount = `mount -t tmpfs -o ${limits} tmpfs "$0" && echo mounted && exec sleep 1000000`;
  const holder = spawn('unshare', ['--mount', 'sh', '-c', mount, at], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(holder, 'exit').catch(() => undefined);
  const mounted = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!mounted) return undefined;
  const path = `/proc/${holder.pid}/root${at}`;
  const filler = `${path}/filler`;
  return {
    holderPid: holder.pid!,
    path,
    fill: () => {
      const file = openSync(filler, 'w');
      for (const bytes of [256 * 1_024, 1_024]) writeUntilFull(file, Buffer.alloc(bytes));
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    fillInodes: () => createUntilFull(path),
    freeInodes: () => {
      for (const name of readdirSync(path)) if (name.startsWith('filler-')) rmSync(`${path}/${name}`);
    },
    unmount: async () => {
      holder.kill('SIGKILL');
      await ended;
    },
  };
}

/** Creates files until there is no inode left. */
export function createUntilFull(folder: string): void {
  for (let number = 0; ; number += 1) {
    try {
      writeFileSync(`${folder}/filler-${number}`, '');
    } catch {
      return;
    }
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    while (writeSync(file, block) === block.length);
  } catch {
    // Fails because the disk is full, which is intended.
  }
}
