import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clock, the disk and the local ports that one process of a trial sees. */
export interface Host {
  /** Environment variables that give a process this clock, disk and local ports. */
  readonly environment: Readonly<Record<string, string>>;
  /** Steps the wall clock of the process and its children; 0 restores the real one. */
  readonly stepClock: (offMs: number) => void;
  /** Stops the wall clock of the process and its children; `false` lets it continue from the real time. */
  readonly stopClock: (isStopped: boolean) => void;
  /** Additional duration of each flush of a file. */
  readonly slowDisk: (ms: number) => void;
  /** Leaves one local port to the new sockets of the process and its children; 0 removes the bound. */
  readonly leavePort: (port: number) => void;
}

/** @returns undefined without a C compiler */
export function openHost(folder: string, name: string): Host | undefined {
  const library = compileShim();
  if (library === undefined) return undefined;
  const file = join(folder, `${name}.clock`);
  const page = new BigInt64Array(4);
  const write = (): void => {
    // Written in place over the mapped bytes: a new file would be a different page.
    const open = openSync(file, 'r+');
    writeSync(open, new Uint8Array(page.buffer), 0, page.byteLength, 0);
    closeSync(open);
  };
  writeFileSync(file, new Uint8Array(page.buffer));
  return {
    environment: { LD_PRELOAD: library, CHAOS_CLOCK_FILE: file },
    stepClock: (offMs) => {
      page[0] = BigInt(Math.round(offMs));
      write();
    },
    stopClock: (isStopped) => {
      page[2] = isStopped ? BigInt(Date.now()) : 0n;
      write();
    },
    slowDisk: (ms) => {
      page[1] = BigInt(Math.round(ms));
      write();
    },
    leavePort: (port) => {
      page[3] = BigInt(port);
      write();
    },
  };
}

const source = fileURLToPath(new URL('shift-clock.c', import.meta.url));

function compileShim(): string | undefined {
  const cache = fileURLToPath(new URL('../../node_modules/.cache/chaos/', import.meta.url));
  const library = join(cache, 'shift-clock.so');
  if (existsSync(library) && statSync(library).mtimeMs > statSync(source).mtimeMs) return library;
  mkdirSync(cache, { recursive: true });
  const unfinished = `${library}.${process.pid}`;
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', unfinished, source], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  renameSync(unfinished, library);
  return library;
}
