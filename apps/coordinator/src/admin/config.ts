import { agentRedisUrlKind, redisUrlKind } from '@vantage/redis-connections';
import { certificateFile, list, readSettings, setting, text, url, type SettingValues } from '@vantage/settings';

/** Settings of the operator's commands on probes and API keys. */
export const adminSettings = {
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: redisUrlKind,
    default: 'redis://127.0.0.1:6379',
    secret: true,
    description: 'Redis, with a user that has all permissions.',
  }),
  nodes: setting({
    env: 'REDIS_NODES',
    kind: list(redisUrlKind),
    default: '',
    secret: true,
    description:
      'Every Redis node that gets the users of agents, master or replica. Default: the replicas that the ' +
      'master names, or all nodes of a cluster.',
  }),
  certificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'CA certificates for `rediss:` nodes, also for agents. Default: the CA in `REDIS_TLS_FOLDER`.',
  }),
  agentRedisUrl: setting({
    env: 'AGENT_REDIS_URL',
    kind: agentRedisUrlKind,
    description:
      'Address of Redis for agents, without user and password, such as `rediss://redis.example.net:6380`. ' +
      'Default: the address in `REDIS_URL`.',
  }),
  publicUrl: setting({
    env: 'PUBLIC_URL',
    kind: url(['http:', 'https:']),
    description: 'Address of the service in invitations. Default: the one that a coordinator wrote at its start.',
  }),
  agentImage: setting({
    env: 'VANTAGE_AGENT_IMAGE',
    kind: text,
    default: 'vantage-probe-agent',
    description: 'Container image of agents in invitations.',
  }),
  tlsFolder: setting({
    env: 'REDIS_TLS_FOLDER',
    kind: text,
    default: '.vantage/tls',
    description: 'Folder of the CA and the certificate of Redis.',
  }),
} as const;

export type AdminConfig = SettingValues<typeof adminSettings>;

/** @throws SettingsError that lists every invalid setting */
export function readAdminConfig(environment: Readonly<Record<string, string | undefined>>): AdminConfig {
  return readSettings(adminSettings, environment);
}
