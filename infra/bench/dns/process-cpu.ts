import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU time of the threads that the process has now, seconds; that of ended threads is not included. The first field of
 * `schedstat` is in nanoseconds (Linux, sched-stats.rst).
 */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}
