import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
  readonly logFile: (name: string) => string;
  readonly write: (running: Running) => void;
  readonly release: () => void;
}

/**
 * Takes the folder for this process. What a killed predecessor left running on it is ended first.
 *
 * @throws Error when a service is running on it
 */
export async function takeDataFolder(folder: string): Promise<DataFolder> {
  const redisFolder = join(folder, 'redis');
  const logFolder = join(folder, 'logs');
  const file = join(folder, 'running.json');
  for (const needed of [redisFolder, logFolder]) mkdirSync(needed, { recursive: true, mode: 0o700 });

  const before = read(file);
  if (before !== undefined && before.pid !== process.pid && isStandalone(before.pid)) {
    throw new Error(
      `Vantage is already running on ${folder} (process ${before.pid}${before.url === null ? '' : `, ${before.url}`}).\n` +
        'Stop it, or choose another folder with --data and another port with --port.',
    );
  }
  if (before !== undefined && before.redis !== null) await endOrphan(before.redis.pid, redisFolder);

  const write = (running: Running): void => writeFileSync(file, `${JSON.stringify(running, undefined, 2)}\n`);
  write({ pid: process.pid, url: null, redis: null, processes: {} });
  return {
    folder,
    redisFolder,
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

/** A Redis whose parent was killed still works in its folder; two on one append-only file would destroy it. */
async function endOrphan(pid: number, redisFolder: string): Promise<void> {
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
}
