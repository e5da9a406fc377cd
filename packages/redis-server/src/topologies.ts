import { connect } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, startRedisServer, type RedisServer } from './server.ts';

/** Masters of a Redis Cluster, each with a range of slots. */
export interface RedisCluster {
  /** `redis+cluster://127.0.0.1:<port>,…` */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  readonly stop: () => Promise<void>;
}

/** A master, a replica, and three Sentinels that monitor them. */
export interface RedisSentinel {
  /** `redis+sentinel://127.0.0.1:<port>,…/main` */
  readonly url: string;
  /** The data servers, the initial master first; `addReplica` appends to them. */
  readonly servers: readonly [RedisServer, RedisServer, ...RedisServer[]];
  readonly sentinels: readonly RedisServer[];
  /** Port of the current master according to the Sentinels. */
  readonly masterPort: () => Promise<number>;
  /** Starts another replica of the current master. Resolves when it has the data and all Sentinels can promote it. */
  readonly addReplica: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const SLOTS = 16_384;
const COMES_ABOUT_WITHIN_MS = 60_000;

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

/**
 * @param downAfterMs silence of the master that triggers a failover; choose more than any machine stall if none is
 * wanted
 * @throws if the servers do not discover each other within a minute
 */
export async function startRedisSentinel(executable: string, downAfterMs = 1_500): Promise<RedisSentinel> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-sentinel-'));
  const started: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.toReversed().map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const replication = [
      '--repl-diskless-sync',
      'yes',
      '--repl-diskless-sync-delay',
      '0',
      '--repl-ping-replica-period',
      '1',
    ];
    const master = await startRedisServer({ executable, arguments: replication });
    started.push(master);
    const startReplica = async (masterPort: number): Promise<RedisServer> => {
      const replica = await startRedisServer({
        executable,
        arguments: [...replication, '--replicaof', '127.0.0.1', String(masterPort)],
      });
      started.push(replica);
      await until(async () => (await ask(replica.port, 'INFO', 'replication')).includes('master_link_status:up'));
      return replica;
    };
    const servers: [RedisServer, RedisServer, ...RedisServer[]] = [master, await startReplica(master.port)];
    const sentinels: RedisServer[] = [];
    for (let index = 0; index < 3; index += 1) {
      // A Sentinel stores its state in its configuration file.
      const file = join(folder, `sentinel-${index}.conf`);
      const watched = [
        `sentinel monitor main 127.0.0.1 ${master.port} 2`,
        `sentinel down-after-milliseconds main ${downAfterMs}`,
        'sentinel failover-timeout main 6000',
      ];
      writeFileSync(file, `${watched.join('\n')}\n`);
      const sentinel = await startRedisServer({ executable, configFile: file, sentinel: true });
      sentinels.push(sentinel);
      started.push(sentinel);
    }
    for (const { port } of sentinels) {
      await until(async () => {
        const state = await ask(port, 'SENTINEL', 'MASTER', 'main');
        return /num-slaves\r\n\$1\r\n1\r\n/.test(state) && /num-other-sentinels\r\n\$1\r\n2\r\n/.test(state);
      });
    }
    const masterPort = async (): Promise<number> => {
      const reply = await ask(sentinels[0]!.port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
      return Number(/\$\d+\r\n(\d+)\r\n$/.exec(reply)?.[1]);
    };
    const addReplica = async (): Promise<void> => {
      const replica = await startReplica(await masterPort());
      servers.push(replica);
      for (const { port } of sentinels) {
        await until(async () => {
          const replicas = await ask(port, 'SENTINEL', 'REPLICAS', 'main');
          const [, entry = ''] = replicas.split(`\r\n127.0.0.1:${replica.port}\r\n`);
          return /\r\nflags\r\n\$5\r\nslave\r\n/.test(entry) && /\r\nmaster-link-status\r\n\$2\r\nok\r\n/.test(entry);
        });
      }
    };
    const url = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`;
    return { url, servers, sentinels, masterPort, addReplica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Sends one command and returns the raw reply. Rejects on an error reply. */
function ask(port: number, ...words: readonly string[]): Promise<string> {
  const command = [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join(
    '\r\n',
  );
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.end(command));
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no answer to ${words.join(' ')}`)));
    socket.on('data', (data) => (reply += data.toString()));
    socket.once('error', reject);
    socket.once('close', () => {
      if (reply.startsWith('-')) reject(new Error(`${words.join(' ')}: ${reply.trim()}`));
      else resolve(reply);
    });
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + COMES_ABOUT_WITHIN_MS;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error('The servers did not find each other within a minute.');
    await sleep(50);
  }
}
