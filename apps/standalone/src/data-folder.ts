import { mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { redisPidFile } from '@vantage/redis-server';

/** What is running on the data of a folder; kept in `running.json`, for the next start and for whoever looks. */
export interface Running {
  readonly pid: number;
  readonly url: string | null;
  readonly redis: { readonly pid: number; readonly port: number } | null;
  /** Process ids of the coordinator and the probes by name. */
  readonly processes: Readonly<Record<string, number>>;
}

export interface DataFolder {
  readonly folder: string;
  readonly redisFolder: string;
  readonly logFolder: string;
  readonly logFile: (name: string) => string;
  readonly write: (running: Running) => void;
  readonly release: () => void;
}

/**
 * Takes the folder for this process. What a killed predecessor left running on it is ended first.
 *
 * @throws Error with a sentence for the user when a service is running on it, or when it cannot be written to
 */
export async function takeDataFolder(folder: string): Promise<DataFolder> {
  const redisFolder = join(folder, 'redis');
  const logFolder = join(folder, 'logs');
  const file = join(folder, 'running.json');
  try {
    for (const needed of [redisFolder, logFolder]) mkdirSync(needed, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = Error.isError(error) ? error.message : String(error);
    throw new Error(`The data folder cannot be used: ${why}.\nChoose another with --data.`, { cause: error });
  }

  const before = read(file);
  if (before !== undefined && before.pid !== process.pid && isStandalone(before.pid)) {
    throw new Error(
      `Vantage is already running on ${folder} (process ${before.pid}${before.url === null ? '' : `, ${before.url}`}).\n` +
        'Stop it, or choose another folder with --data and another port with --port.',
    );
  }
  await endOrphan(realpathSync(redisFolder));

  const write = (running: Running): void => {
    try {
      writeFileSync(file, `${JSON.stringify(running, undefined, 2)}\n`);
    } catch {
      // A note that cannot be written, on a full disk or into a folder that is gone, must not end what runs.
    }
  };
  write({ pid: process.pid, url: null, redis: null, processes: {} });
  return {
    folder,
    redisFolder,
    logFolder,
    logFile: (name) => join(logFolder, `${name}.log`),
    write,
    release: () => rmSync(file, { force: true }),
  };
}

function read(file: string): Running | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Running;
  } catch {
    return undefined;
  }
}

/** A process id may have passed to another program since: its command line tells. */
function isStandalone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('standalone');
  } catch {
    return false;
  }
}

/**
 * A Redis whose parent was killed still works in its folder; two on one append-only file would destroy it.
 *
 * @param redisFolder without symbolic links, as the kernel tells the folder of a process
 */
async function endOrphan(redisFolder: string): Promise<void> {
  const pid = readPid(redisPidFile(redisFolder));
  if (pid === undefined) return;
  const worksHere = (): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === redisFolder;
    } catch {
      return false;
    }
  };
  if (!worksHere()) return;
  process.kill(pid, 'SIGTERM');
  for (let waited = 0; worksHere() && waited < 50; waited += 1) await sleep(100);
  if (worksHere()) process.kill(pid, 'SIGKILL');
  while (worksHere()) await sleep(20);
}

function readPid(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
