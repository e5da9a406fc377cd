import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ask, until } from './ask.ts';
import { freePort } from './free-port.ts';
import { startRedisServer, type RedisServer, type RedisServerOptions } from './server.ts';

/** Masters of a Redis Cluster, each with a range of slots. */
export interface RedisCluster {
  /** `redis+cluster://127.0.0.1:<port>,…` */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** Restarts a node that has ended, on its data. Resolves when the cluster is complete. */
  readonly restart: (index: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const SLOTS = 16_384;

/**
 * @param durable further arguments of each server, such as another `--appendfsync` than `everysec`
 * @throws if the cluster is not ready within the time of `until`
 */
export async function startRedisCluster(
  executable: string,
  masters = 3,
  durable: readonly string[] = [],
): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-cluster-'));
  const nodes: RedisServer[] = [];
  const settings: RedisServerOptions[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  const untilWhole = async (): Promise<void> => {
    for (const { port } of nodes) {
      await until(async () => {
        const info = await ask(port, 'CLUSTER', 'INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${masters}`);
      });
    }
  };
  try {
    const busPorts: number[] = [];
    for (let index = 0; index < masters; index += 1) {
      const bus = await freePort();
      busPorts.push(bus);
      const dataFolder = join(folder, `node-${index}`);
      mkdirSync(dataFolder);
      const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '5000'];
      const options = { executable, dataFolder, arguments: [...cluster, ...durable] };
      nodes.push(await startRedisServer(options));
      settings.push({ ...options, port: nodes[index]!.port });
    }
    await joinNodes(nodes, busPorts);
    await untilWhole();
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = async (index: number): Promise<void> => {
    nodes[index] = await startRedisServer(settings[index]!);
    await untilWhole();
  };
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, nodes, restart, stop };
}

async function joinNodes(nodes: readonly RedisServer[], busPorts: readonly number[]): Promise<void> {
  const [first] = nodes;
  for (const [index, { port }] of nodes.entries()) {
    const [from, behind] = [index, index + 1].map((part) => Math.round((SLOTS * part) / nodes.length));
    await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(behind! - 1));
    await ask(port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    if (index > 0) await ask(first!.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPorts[index]));
  }
}
