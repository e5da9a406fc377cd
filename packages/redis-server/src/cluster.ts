import { ask, until } from './ask.ts';
import { freePort } from './free-port.ts';
import { startRedisServer, type RedisServer } from './server.ts';

/** Masters of a Redis Cluster, each with a range of slots. */
export interface RedisCluster {
  /** `redis+cluster://127.0.0.1:<port>,…` */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  readonly stop: () => Promise<void>;
}

const SLOTS = 16_384;

/** @throws if the cluster is not ready within a minute */
export async function startRedisCluster(executable: string, masters = 3): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const busPorts: number[] = [];
    for (let index = 0; index < masters; index += 1) {
      const bus = await freePort();
      busPorts.push(bus);
      nodes.push(
        await startRedisServer({
          executable,
          arguments: ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '5000'],
        }),
      );
    }
    const [first] = nodes;
    for (const [index, { port }] of nodes.entries()) {
      const [from, behind] = [index, index + 1].map((part) => Math.round((SLOTS * part) / masters));
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(behind! - 1));
      await ask(port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      if (index > 0) await ask(first!.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPorts[index]));
    }
    for (const { port } of nodes) {
      await until(async () => {
        const info = await ask(port, 'CLUSTER', 'INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${masters}`);
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, nodes, stop };
}
