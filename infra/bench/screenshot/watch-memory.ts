import { readFile } from 'node:fs/promises';

const POLL_INTERVAL_MS = 100;

/** The most that processes took together while they were watched, MiB: resident, without mapped files. */
export function watchMemory(processes: () => Promise<readonly number[]>): { readonly stop: () => number } {
  let peak = 0;
  const poll = async (): Promise<void> => {
    const statuses = await Promise.all(
      (await processes()).map((pid) => readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')),
    );
    const sizes = statuses.flatMap((status) => [...status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+)/gm)].map(kibibytes));
    peak = Math.max(peak, sizes.reduce((sum, size) => sum + size, 0) / 1024);
  };
  const timer = setInterval(() => void poll(), POLL_INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return peak;
    },
  };
}

function kibibytes(match: RegExpMatchArray): number {
  return Number(match[1]);
}
