import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ask, until } from './ask.ts';
import { startRedisServer, type RedisServer, type RedisServerOptions } from './server.ts';

/** A master, a replica, and three Sentinels that monitor them. */
export interface RedisSentinel {
  /** `redis+sentinel://127.0.0.1:<port>,…/main` */
  readonly url: string;
  /** The data servers, the initial master first; `addReplica` appends to them. */
  readonly servers: readonly [RedisServer, RedisServer, ...RedisServer[]];
  readonly sentinels: readonly RedisServer[];
  /** Port of the current master according to the first Sentinel. */
  readonly masterPort: () => Promise<number>;
  /** Starts another replica of the current master. Resolves when it has the data and all Sentinels can promote it. */
  readonly addReplica: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Diskless replication without delay, with a heartbeat each second. */
const REPLICATION = '--repl-diskless-sync yes --repl-diskless-sync-delay 0 --repl-ping-replica-period 1'.split(' ');
const SENTINELS = 3;

/**
 * @param downAfterMs silence of the master that triggers a failover; longer than any stall of the machine if no
 * failover is wanted
 * @throws if the servers do not discover each other within the time of `until`
 */
export async function startRedisSentinel(executable: string, downAfterMs = 1_500): Promise<RedisSentinel> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-sentinel-'));
  const started: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.toReversed().map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  const start: Start = async (options) => {
    const server = await startRedisServer({ executable, ...options });
    started.push(server);
    return server;
  };
  try {
    const master = await start({ arguments: REPLICATION });
    const servers: [RedisServer, RedisServer, ...RedisServer[]] = [master, await startReplica(start, master.port)];
    const sentinels: RedisServer[] = [];
    for (let index = 0; index < SENTINELS; index += 1) {
      sentinels.push(await startSentinel(start, join(folder, `sentinel-${index}.conf`), master.port, downAfterMs));
    }
    for (const { port } of sentinels) await until(() => knowsAll(port));
    const masterPort = async (): Promise<number> => {
      const reply = await ask(sentinels[0]!.port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
      return Number(/\$\d+\r\n(\d+)\r\n$/.exec(reply)?.[1]);
    };
    const addReplica = async (): Promise<void> => {
      const replica = await startReplica(start, await masterPort());
      servers.push(replica);
      for (const { port } of sentinels) await until(() => canPromote(port, replica.port));
    };
    const url = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`;
    return { url, servers, sentinels, masterPort, addReplica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a server that is stopped together with the others. */
type Start = (options: Omit<RedisServerOptions, 'executable'>) => Promise<RedisServer>;

/** Resolves when the replica has the data of its master. */
async function startReplica(start: Start, masterPort: number): Promise<RedisServer> {
  const replica = await start({ arguments: [...REPLICATION, '--replicaof', '127.0.0.1', String(masterPort)] });
  await until(async () => (await ask(replica.port, 'INFO', 'replication')).includes('master_link_status:up'));
  return replica;
}

/** @param configFile in which the Sentinel stores its state */
function startSentinel(
  start: Start,
  configFile: string,
  masterPort: number,
  downAfterMs: number,
): Promise<RedisServer> {
  const watched = [
    `sentinel monitor main 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds main ${downAfterMs}`,
    'sentinel failover-timeout main 6000',
  ];
  writeFileSync(configFile, `${watched.join('\n')}\n`);
  return start({ configFile, sentinel: true });
}

/** Whether a Sentinel knows the replica and the other Sentinels. */
async function knowsAll(port: number): Promise<boolean> {
  const state = await ask(port, 'SENTINEL', 'MASTER', 'main');
  return /num-slaves\r\n\$1\r\n1\r\n/.test(state) && /num-other-sentinels\r\n\$1\r\n2\r\n/.test(state);
}

async function canPromote(port: number, replicaPort: number): Promise<boolean> {
  const replicas = await ask(port, 'SENTINEL', 'REPLICAS', 'main');
  const [, entry = ''] = replicas.split(`\r\n127.0.0.1:${replicaPort}\r\n`);
  return /\r\nflags\r\n\$5\r\nslave\r\n/.test(entry) && /\r\nmaster-link-status\r\n\$2\r\nok\r\n/.test(entry);
}
