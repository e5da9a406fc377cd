import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';

/** Drops packets in one direction over the loopback of this network namespace, without notifying either side. */
export interface Partition {
  /** Drops packets to a port. */
  readonly dropTo: (port: number) => Promise<void>;
  /** Drops packets from a port. */
  readonly dropFrom: (port: number) => Promise<void>;
  readonly mend: () => Promise<void>;
}

const run = promisify(execFile);
/** Variable of processes in the namespace: without it, no fault drops packets on the machine's loopback. */
const NAMESPACE = 'CHAOS_NAMESPACE';

export const isInNamespace = (): boolean => process.env[NAMESPACE] === '1';

/** The environment, and the prefix of a command that runs it in a network namespace with only a loopback. */
export function inNamespace(): { readonly command: readonly string[]; readonly environment: NodeJS.ProcessEnv } {
  const up = 'ip link set lo up && exec "$0" "$@"';
  return { command: ['unshare', '--net', '--', 'sh', '-c', up], environment: { ...process.env, [NAMESPACE]: '1' } };
}

export const partition: Partition = {
  dropTo: (port) => drop(`tcp dport ${port}`),
  dropFrom: (port) => drop(`tcp sport ${port}`),
  mend: () => nft('flush ruleset'),
};

async function drop(what: string): Promise<void> {
  await nft('add table inet chaos');
  await nft('add chain inet chaos input { type filter hook input priority 0; }');
  await nft(`add rule inet chaos input ${what} drop`);
}

/** Fetches nft if this machine has none: from inside the namespace no package can be downloaded. */
export async function preparePartitions(): Promise<void> {
  const isInstalled = await run('nft', ['--version']).then(
    () => true,
    () => false,
  );
  if (!isInstalled) await packagesMissing(['nftables']);
}

/** Why there can be no partition here, or undefined. */
export async function partitionImpossible(): Promise<string | undefined> {
  if (!isInNamespace()) return 'a one-way partition needs root';
  return nft('list ruleset').then(
    () => undefined,
    () => 'a one-way partition needs nft',
  );
}

async function nft(command: string): Promise<void> {
  try {
    await run('nft', [command]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const { program, environment } = await unpackPackages('nftables');
    await run(program('nft'), [command], { env: environment });
  }
}
