import { setTimeout as sleep } from 'node:timers/promises';

import { runProbeAdmin } from '../../../apps/coordinator/src/admin/commands.ts';
import { readAdminConfig } from '../../../apps/coordinator/src/admin/config.ts';

/** Runs an operator command, such as `suspend fra-1`, and returns what it prints. */
export type Admin = (...args: readonly string[]) => Promise<string>;

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

/** @param image of agents in invitations */
export function openAdmin(redisUrl: string, publicUrl: string, image?: string): Admin {
  const env = { REDIS_URL: redisUrl, PUBLIC_URL: publicUrl };
  const config = readAdminConfig(image === undefined ? env : { ...env, VANTAGE_AGENT_IMAGE: image });
  return async (...args) => {
    const lines: string[] = [];
    const code = await runProbeAdmin(args, config, {
      out: (line) => lines.push(line),
      err: (line) => lines.push(line),
    });
    if (code !== 0) throw new Error(lines.join('\n'));
    return lines.join('\n');
  };
}

/** The two commands that `probe:invite` prints. */
export async function invitation(
  admin: Admin,
  probe: string,
): Promise<{ readonly container: string; readonly bareHost: string }> {
  const lines = (await admin('invite', probe, ...record)).split('\n');
  const container = lines.find((line) => line.startsWith('docker run '));
  if (container === undefined) throw new Error(`no command for a container:\n${lines.join('\n')}`);
  return { container, bareHost: lines.at(-1)! };
}

export async function untilStatus(url: string, probe: string, status: string): Promise<void> {
  for (;;) {
    const probes = (await (await fetch(`${url}/probes`)).json()) as Readonly<
      Record<string, { readonly status: string }>
    >;
    if (probes[probe]?.status === status) return;
    await sleep(20);
  }
}
