import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { readStatus, statusField, type ProcessGroup } from './process-group.ts';

const POLLS = 30;
const POLL_INTERVAL_MS = 100;

/**
 * Inspects the processes of a browser with a page. None may run as root, none outside a nested pid namespace may have a
 * capability, and each renderer must have a pid namespace and a seccomp filter (proc_pid_status(5)). A new renderer
 * gets its filter late, so while only some have one, all are inspected again, up to `POLLS` times in all.
 *
 * @returns what is missing, as text; null if the sandbox is on
 */
export async function sandboxFault(group: ProcessGroup): Promise<string | null> {
  for (let polls = 1; ; polls += 1) {
    const { fault, isLasting } = await poll(group);
    if (isLasting || polls === POLLS) return fault;
    await sleep(POLL_INTERVAL_MS);
  }
}

interface Look {
  readonly fault: string | null;
  readonly isLasting: boolean;
}

async function poll(group: ProcessGroup): Promise<Look> {
  const pids = await group.members();
  const all = await Promise.all(
    pids.map(async (pid) => ({ status: readStatus(pid), isRenderer: await isRenderer(pid) })),
  );
  const alive = all.filter(({ status }) => status !== '');
  if (alive.some(({ status }) => statusField(status, 'Uid')?.split(/\s+/).includes('0'))) {
    return { fault: 'the browser runs as root', isLasting: true };
  }
  // Sandboxed processes are also in a separate user namespace, so their capabilities have no effect outside.
  const outside = alive.filter(({ status }) => !isNested(status));
  if (outside.some(({ status }) => !/^0+$/.test(statusField(status, 'CapEff') ?? '0'))) {
    return { fault: 'the browser inherits capabilities of the agent', isLasting: true };
  }
  const renderers = alive.filter((process) => process.isRenderer);
  const confined = renderers.filter(({ status }) => isNested(status) && statusField(status, 'Seccomp') === '2');
  const isOn = confined.length > 0 && confined.length === renderers.length;
  return { fault: isOn ? null : 'the sandbox of the browser is off', isLasting: isOn || confined.length === 0 };
}

/** `NSpid` lists the pid in the pid namespace of this `/proc`, and one for each namespace nested in it. */
function isNested(status: string): boolean {
  return (statusField(status, 'NSpid') ?? '').split(/\s+/).length > 1;
}

/** True for a renderer, by its command line, in which Chromium replaces the NULs between words by spaces. */
async function isRenderer(pid: number): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
  return commandLine.includes('--type=renderer');
}
