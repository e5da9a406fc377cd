import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Names of the network namespaces of this machine, as `ip netns` keeps them. */
export function namespaces(): readonly string[] {
  try {
    return readdirSync('/var/run/netns');
  } catch {
    return [];
  }
}

/** Deletes a namespace. Another test run may be faster with what a dead one left behind. */
export function deleteNamespace(name: string): void {
  try {
    execFileSync('/usr/sbin/ip', ['netns', 'delete', name], { stdio: 'pipe' });
  } catch (error) {
    if (namespaces().includes(name)) throw error;
  }
}

/** Whether a process is there, also one of another user: what a dead one left behind may be removed. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Error.isError(error) && 'code' in error && error.code === 'EPERM';
  }
}
