/** Sends SIGKILL to a process group, including processes that outlived its leader. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The group has no processes.
  }
}
