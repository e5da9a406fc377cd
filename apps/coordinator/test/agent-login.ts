import { join } from 'node:path';

import { freePort } from '@vantage/redis-server';
import { certificateText } from '@vantage/settings';
import { Redis } from 'ioredis';

import { readAdminConfig } from '../src/admin/config.ts';
import { runProbeAdmin } from '../src/admin/commands.ts';
import { until, type CoreBed } from './core-bed.ts';

export interface AgentEnvironment {
  readonly REDIS_URL: string;
  readonly REDIS_CA: string;
}

/** Logins of agents at a Redis with TLS, whose certificate the operator's commands issued. */
export interface AgentLogins {
  /** Runs one of the operator's commands; returns its standard output. */
  readonly admin: (...args: readonly string[]) => Promise<string>;
  /** Runs `probe:add`. */
  readonly add: (probe: string) => Promise<AgentEnvironment>;
  /** A client with the credentials of the agent. */
  readonly connect: (environment: AgentEnvironment) => Redis;
}

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

/** Issues a CA and a certificate into the folder, and opens a TLS port at the Redis of the bed. */
export async function openAgentLogins(bed: CoreBed, folder: string): Promise<AgentLogins> {
  let port = 0;
  const admin = async (...args: readonly string[]): Promise<string> => {
    const out: string[] = [];
    const err: string[] = [];
    const config = readAdminConfig({
      REDIS_URL: bed.server.url,
      REDIS_TLS_FOLDER: folder,
      AGENT_REDIS_URL: `rediss://127.0.0.1:${port || 1}`,
    });
    const streams = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
    if ((await runProbeAdmin(args, config, streams)) !== 0) throw new Error(err.join('\n'));
    return out.join('\n');
  };
  await admin('tls', '--host', '127.0.0.1');
  const files = { 'tls-cert-file': 'redis.crt', 'tls-key-file': 'redis.key', 'tls-ca-cert-file': 'ca.crt' };
  const settings = Object.entries(files).flatMap(([name, file]) => [name, join(folder, 'redis', file)]);
  await bed.redis.call('CONFIG', 'SET', 'tls-auth-clients', 'no', ...settings);
  await until(async () => {
    port = await freePort();
    return bed.redis.call('CONFIG', 'SET', 'tls-port', String(port)).then(
      () => true,
      // The port was taken meanwhile.
      () => false,
    );
  });
  return {
    admin,
    add: async (probe) => {
      const shown = JSON.parse(await admin('add', probe, ...record, '--json')) as { environment: AgentEnvironment };
      return shown.environment;
    },
    connect: ({ REDIS_URL, REDIS_CA }) => {
      const redis = new Redis(REDIS_URL, {
        enableReadyCheck: false,
        disableClientInfo: true,
        retryStrategy: null,
        maxRetriesPerRequest: 0,
        tls: { ca: certificateText.parse(REDIS_CA) },
      });
      redis.on('error', () => undefined);
      return redis;
    },
  };
}
