/** SIGKILL to a process that was started as the leader of a group, and to what it left in that group. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // None of them is left.
  }
}
