import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of all threads, seconds: the first field of `schedstat` is in nanoseconds (Linux, sched-stats.rst). */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}
