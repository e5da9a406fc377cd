import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clock and the disk of the host that one process of a trial believes to be on. */
export interface Host {
  /** Environment variables of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Steps its time of day, that of its children too; 0 is the real one. */
  readonly stepClock: (offMs: number) => void;
  /** How much longer each flush of a file takes. */
  readonly slowDisk: (ms: number) => void;
}

/** @returns undefined without a C compiler */
export function openHost(folder: string, name: string): Host | undefined {
  const library = compileShim();
  if (library === undefined) return undefined;
  const file = join(folder, `${name}.clock`);
  const page = new BigInt64Array(2);
  const write = (): void => {
    // Over the bytes that are mapped: a new file would be another page.
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
    slowDisk: (ms) => {
      page[1] = BigInt(Math.round(ms));
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
