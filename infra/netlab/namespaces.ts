import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

export const IP = '/usr/sbin/ip';

/**
 * Runs commands of `ip`, one a line, in a namespace. One process runs all: a start takes longer than a command.
 *
 * @param node undefined for the namespace of this process
 * @param family needed for routes that name no address, such as `default dev eth0`
 */
export function configure(node: string | undefined, lines: readonly string[], family?: 4 | 6): void {
  if (lines.length === 0) return;
  const where = node === undefined ? [] : ['-n', node];
  const of = family === undefined ? [] : [`-${family}`];
  execFileSync(IP, [...where, ...of, '-batch', '-'], { input: `${lines.join('\n')}\n`, stdio: 'pipe' });
}

/** Writes settings below /proc/sys/net of a namespace: `ipv4/ip_forward`. */
export function writeSettings(node: string, settings: Readonly<Record<string, number | string>>): void {
  const lines = Object.entries(settings).map(([key, value]) => `echo ${value} > /proc/sys/net/${key}`);
  execFileSync(IP, ['netns', 'exec', node, 'sh', '-ec', lines.join('\n')], { stdio: 'pipe' });
}

/** Names of this machine's network namespaces, as `ip netns` lists them. */
export function namespaces(): readonly string[] {
  try {
    return readdirSync('/var/run/netns');
  } catch {
    return [];
  }
}

/** Deletes a namespace. Another test run may have deleted it first. */
export function deleteNamespace(name: string): void {
  try {
    execFileSync(IP, ['netns', 'delete', name], { stdio: 'pipe' });
  } catch (error) {
    if (namespaces().includes(name)) throw error;
  }
}

export function removeNamespaces(isTheirs: (name: string) => boolean): void {
  for (const name of namespaces().filter(isTheirs)) deleteNamespace(name);
}

/** Removes the namespaces `prefix-PID-…` of processes that are gone. */
export function removeOrphans(prefix: string): void {
  const named = new RegExp(`^${prefix}-(\\d+)-`);
  removeNamespaces((name) => {
    const pid = named.exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
}

/** True if a process exists, even one of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Error.isError(error) && 'code' in error && error.code === 'EPERM';
  }
}
