import { agentRedisUrlKind } from '@vantage/redis-connections';
import { certificateFile, certificateText, setting, text, type Settings, type VariableKind } from '@vantage/settings';

import { proxyAddress, serviceAddress } from './addresses.ts';

const probeId: VariableKind<string> = {
  name: 'probe id (lower-case letters, digits and hyphens, at most 63)',
  parse: (value) => {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) {
      throw new Error('must be 1 to 63 lower-case letters, digits and hyphens, and begin with no hyphen');
    }
    return value;
  },
};

/** Settings of the connection to the service: a gateway, or Redis. */
export const connectionSettings = {
  vantageUrl: setting({
    env: 'VANTAGE_URL',
    kind: serviceAddress,
    description:
      'Public address of the service, as `probe:invite` prints it: the agent connects to its gateway, and needs neither ' +
      '`PROBE_ID` nor `REDIS_URL`.',
  }),
  vantageToken: setting({
    env: 'VANTAGE_TOKEN',
    kind: text,
    secret: true,
    description:
      'Token of `probe:invite`, for the first start: it enrols the key that the agent makes. Without effect afterwards; ' +
      'another token replaces the key.',
  }),
  stateFolder: setting({
    env: 'VANTAGE_STATE_FOLDER',
    kind: text,
    default: '.vantage/agent',
    description: 'Folder of the key of the agent; it must outlive the process, and exist once.',
  }),
  vantageCertificates: setting({
    env: 'VANTAGE_CA_FILE',
    kind: certificateFile,
    description:
      'File with the CA certificates of `VANTAGE_URL`, in PEM. Default: those of Node. For those of an `https:` proxy set ' +
      '`NODE_EXTRA_CA_CERTS`.',
  }),
  httpsProxy: setting({
    env: 'HTTPS_PROXY',
    kind: proxyAddress,
    secret: true,
    description:
      'Proxy to an `https:` address in `VANTAGE_URL`, by CONNECT, such as `http://user:password@proxy.example.net:3128`. ' +
      'Measurements never use it.',
  }),
  noProxy: setting({
    env: 'NO_PROXY',
    kind: text,
    description:
      'Hosts that are reached without the proxy, such as `example.com,10.0.0.0/8`. A name includes all names below; `host:port` ' +
      'holds for this port alone; `*` is any text, alone all hosts. Names are not resolved to be found in a network. An entry with `/` that is no network is logged.',
  }),
  probeId: setting({
    env: 'PROBE_ID',
    kind: probeId,
    description:
      'Identifier of this probe, as in its record; for an agent with `REDIS_URL`. Run one agent per identifier: a second one would treat ' +
      'the jobs of the first as abandoned.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: agentRedisUrlKind,
    secret: true,
    description:
      'For an agent without `VANTAGE_URL`: the Redis that the coordinator uses, with the user and password of this probe: ' +
      '`redis://user:password@host:port`, `redis+sentinel://user:password@host:port,host:port/set` with ' +
      'the Sentinels ' +
      'as hosts, or `redis+cluster://user:password@host:port,host:port`; with `rediss` in place of `redis` over TLS.',
  }),
  redisCertificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'File with CA certificates for `rediss:` servers, in PEM. Default: those of Node.',
  }),
  redisCa: setting({
    env: 'REDIS_CA',
    kind: certificateText,
    description: 'The same as the value of the variable, as `probe:add` prints it. `REDIS_CA_FILE` takes precedence.',
  }),
} satisfies Settings;
