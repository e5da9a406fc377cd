import { setTimeout as sleep } from 'node:timers/promises';

import { runProbeAdmin } from '../apps/coordinator/src/admin/commands.ts';
import { readAdminConfig } from '../apps/coordinator/src/admin/config.ts';
// Not from `@vantage/coordinator`, which would load the whole coordinator.
import { openProbeRecords } from '../apps/coordinator/src/probes/registry/open-probe-records.ts';

/** Writes records for the probes of benchmarks, chaos and labs, without coordinates. */
export async function recordProbes(redisUrl: string, ids: readonly string[]): Promise<void> {
  const { records, close } = await openProbeRecords(redisUrl);
  for (const [index, id] of ids.entries()) {
    await records.write({
      id,
      name: id,
      datacenter: id,
      countryCode: 'QM',
      isp: 'Trial',
      asNumber: `AS${64_496 + (index % 16)}`,
      city: null,
      latitude: null,
      longitude: null,
      tags: ['trial'],
    });
  }
  await close();
}

/**
 * Creates a probe whose agent connects to a gateway.
 *
 * @returns the token of its agent
 */
export async function inviteProbe(redisUrl: string, id: string, publicUrl: string): Promise<string> {
  const lines: string[] = [];
  const record = ['--name', id, '--datacenter', id, '--country', 'QM', '--isp', 'Trial', '--asn', 'AS64496'];
  const config = readAdminConfig({ REDIS_URL: redisUrl, PUBLIC_URL: publicUrl });
  const streams = { out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) };
  const status = await runProbeAdmin(['invite', id, ...record, '--json'], config, streams);
  if (status !== 0) throw new Error(lines.join('\n'));
  return (JSON.parse(lines.join('\n')) as { readonly token: string }).token;
}

/** Time limit of the start, for a busy machine. */
const UP_WITHIN_MS = 300_000;

/**
 * Waits until a coordinator responds and lists at least this many probes that are not offline.
 *
 * @throws Error after five minutes
 */
export async function untilProbesAreUp(url: string, count: number): Promise<void> {
  const giveUpAt = performance.now() + UP_WITHIN_MS;
  for (;;) {
    const probes: ProbeList = await readProbes(url).catch(() => ({}));
    if (Object.values(probes).filter(({ status }) => status !== 'offline').length >= count) return;
    if (performance.now() > giveUpAt) throw new Error(`${url} does not see ${count} probes within ${UP_WITHIN_MS} ms.`);
    await sleep(100);
  }
}

type ProbeList = Readonly<Record<string, { readonly status: string }>>;

async function readProbes(url: string): Promise<ProbeList> {
  const response = await fetch(`${url}/probes`, { signal: AbortSignal.timeout(5_000) });
  return response.ok ? ((await response.json()) as ProbeList) : {};
}
