import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Redis } from 'ioredis';
import { findRedisServer, startRedisSentinel, startRedisServer, type RedisServer } from '@vantage/redis-server';

import { keepCluster, type ClusterStore } from './cluster-store.ts';
import { openHost, type Host } from './host.ts';
import { mountSmallDisk, type SmallDisk } from '@vantage/test-support/programs/small-disk';

export type StoreKind = 'single' | 'sentinel' | 'cluster';

/** The Redis of a deployment, and the faults that can affect it. */
export interface Store {
  readonly url: string;
  /** Port of a single server; undefined with several servers. */
  readonly port: number | undefined;
  /** Port of the server that accepts writes at present. */
  readonly masterPort: () => Promise<number>;
  readonly masterPid: () => Promise<number>;
  /** Empty without Sentinels. */
  readonly sentinels: readonly RedisServer[];
  /** Sends SIGKILL to the master. */
  readonly kill: () => Promise<void>;
  /**
   * Call after `kill`: starts the killed server again on its append-only file; with Sentinels another replica of the
   * new master.
   */
  readonly restart: () => Promise<void>;
  /** Undefined unless the store is a cluster. */
  readonly cluster: ClusterStore | undefined;
  /** The file system of the append-only file; undefined without root, and for several servers. */
  readonly disk: SmallDisk | undefined;
  /** Undefined without a C compiler, and for several servers. */
  readonly host: Host | undefined;
  readonly stop: () => Promise<void>;
}

const DISK_MIB = 96;
const DISK_INODES = 512;
/** After a stall, a Sentinel refuses a failover for this long; Redis' 30 s would outlast the replica's eligibility. */
const TILT_MS = 5_000;
/**
 * Interval of a Sentinel's `INFO` requests, by which it learns of new replicas: it promotes none that it does not know.
 * Redis' default is ten seconds.
 */
const ASK_SERVERS_MS = 1_000;

export async function keepStore(kind: StoreKind, folder: string): Promise<Store> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  if (kind === 'cluster') return ofCluster(await keepCluster(executable));
  return kind === 'single' ? keepSingle(executable, folder) : keepSentinel(executable);
}

async function keepSingle(executable: string, folder: string): Promise<Store> {
  const dataFolder = join(folder, 'redis');
  mkdirSync(dataFolder);
  const disk = await mountSmallDisk(dataFolder, DISK_MIB, DISK_INODES);
  const host = openHost(folder, 'redis');
  const where = {
    executable: writeStarter({ executable, folder, disk, host }),
    dataFolder,
    logFile: join(folder, 'redis.log'),
    // With `everysec`, Redis delays a write to the file by up to two seconds while the disk is busy with the previous
    // one.
    arguments: ['--auto-aof-rewrite-min-size', '8mb', '--appendfsync', 'always'],
  };
  let server: RedisServer;
  try {
    server = await startRedisServer(where);
  } catch (error) {
    await disk?.unmount();
    throw error;
  }
  const { port, url } = server;
  return {
    url,
    port,
    masterPort: async () => port,
    masterPid: async () => server.pid,
    sentinels: [],
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    },
    restart: async () => {
      server = await startRedisServer({ ...where, port });
    },
    cluster: undefined,
    disk,
    host,
    stop: async () => {
      await server.stop();
      await disk?.unmount();
    },
  };
}

async function keepSentinel(executable: string): Promise<Store> {
  const set = await startRedisSentinel(executable);
  for (const { port } of set.sentinels) {
    const sentinel = new Redis(port, '127.0.0.1');
    await sentinel.call('SENTINEL', 'DEBUG', 'tilt-period', String(TILT_MS), 'info-period', String(ASK_SERVERS_MS));
    sentinel.disconnect();
  }
  const masterPid = async (): Promise<number> => {
    const port = await set.masterPort();
    return set.servers.find((server) => server.port === port)!.pid;
  };
  return {
    url: set.url,
    port: undefined,
    masterPort: set.masterPort,
    masterPid,
    restart: set.addReplica,
    sentinels: set.sentinels,
    kill: async () => {
      process.kill(await masterPid(), 'SIGKILL');
    },
    cluster: undefined,
    disk: undefined,
    host: undefined,
    stop: set.stop,
  };
}

/** Operations on one master affect the first one. */
function ofCluster(cluster: ClusterStore): Store {
  return {
    url: cluster.url,
    port: undefined,
    cluster,
    masterPort: async () => cluster.nodes[0]!.port,
    masterPid: async () => cluster.nodes[0]!.pid,
    sentinels: [],
    kill: () => cluster.kill(0),
    restart: () => cluster.restart(0),
    disk: undefined,
    host: undefined,
    stop: cluster.stop,
  };
}

interface StarterOptions {
  readonly executable: string;
  readonly folder: string;
  readonly disk: SmallDisk | undefined;
  readonly host: Host | undefined;
}

/** A script that starts redis-server with its disk and its clock. */
function writeStarter({ executable, folder, disk, host }: StarterOptions): string {
  const script = join(folder, 'redis-server-on-its-host');
  const variables = Object.entries(host?.environment ?? {}).map(([name, value]) => `${name}='${value}' `);
  const start = `${variables.join('')}exec -a redis-server '${executable}' "$@"`;
  const enter = disk === undefined ? '' : `exec nsenter --mount=/proc/${disk.holderPid}/ns/mnt ${script}.inside "$@"\n`;
  writeFileSync(script, `#!/bin/bash\n${enter}${enter === '' ? start : ''}\n`);
  writeFileSync(`${script}.inside`, `#!/bin/bash\n${start}\n`);
  for (const file of [script, `${script}.inside`]) chmodSync(file, 0o755);
  return script;
}
