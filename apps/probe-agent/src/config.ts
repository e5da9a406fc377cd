import { checkTypeNames } from '@vantage/diagnostics/contract';
import { agentRedisUrlKind } from '@vantage/redis-connections';
import {
  boolean,
  contact,
  certificateFile,
  certificateText,
  integer,
  list,
  oneOf,
  readSettings,
  setting,
  SettingsError,
  text,
  type VariableKind,
  type Settings,
  type SettingValues,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';
import { telemetrySettings } from '@vantage/telemetry';

import { proxyAddress, serviceAddress } from './addresses.ts';
import { screenshotWishes } from './screenshot-offer.ts';

const probeId: VariableKind<string> = {
  name: 'probe id (lower-case letters, digits and hyphens, at most 63)',
  parse: (value) => {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) {
      throw new Error('must be 1 to 63 lower-case letters, digits and hyphens, and begin with no hyphen');
    }
    return value;
  },
};

const offeredTypes: VariableKind<readonly (typeof checkTypeNames)[number][]> = {
  name: list(oneOf(checkTypeNames)).name,
  parse: (value) => {
    const types = list(oneOf(checkTypeNames)).parse(value);
    if (types.length === 0) throw new Error('must name a check type');
    return types;
  },
};

/** Settings of measurements, shared by jobs and `vantage-agent run`. */
export const measuringSettings = {
  targetAllow: setting({
    env: 'TARGET_ALLOW',
    kind: list(policyKinds.allow),
    default: '',
    description:
      'Ranges that may be measured although the target policy refuses them, to monitor a private network ' +
      'or for trials. Never allows the address and port of Redis, nor link-local addresses without the ' +
      'setting below.',
  }),
  targetAllowLinkLocal: setting({
    env: 'TARGET_ALLOW_LINK_LOCAL_AND_METADATA_I_KNOW_WHAT_THIS_MEANS',
    kind: boolean,
    default: 'false',
    description:
      'Lets `TARGET_ALLOW` allow link-local and cloud metadata addresses too. Clients of the API can then ' +
      'read the cloud credentials of this machine.',
  }),
  targetAllowNames: setting({
    env: 'TARGET_ALLOW_NAMES',
    kind: list(policyKinds.allowNames),
    default: '',
    description:
      'Names, including all names below them, that may be measured although they are special-use or have ' +
      'no public suffix, such as `lan`. Their addresses are checked as usual.',
  }),
  targetDeny: setting({
    env: 'TARGET_DENY',
    kind: list(policyKinds.deny),
    default: '',
    description: 'Domains and ranges that are never measured; overrides every setting that allows.',
  }),
  networkLimit: setting({
    env: 'TARGET_NETWORK_LIMIT',
    kind: integer(1, 1_000_000_000),
    default: '1200',
    description:
      'Cost of the runs a minute at one network, by any name: a /24 of IPv4 or a /48 of IPv6. Further ones ' +
      'end as `target_rate_limited`.',
  }),
  ownAddresses: setting({
    env: 'OWN_ADDRESSES',
    kind: list(policyKinds.allow),
    default: '',
    description:
      'Further addresses of this probe and of the service that it must not measure, such as its public ' +
      'address behind a NAT. Its interfaces, their networks, its gateways, resolvers and Redis are ' +
      'detected.',
  }),
  dnsServers: setting({
    env: 'DNS_SERVERS',
    kind: list(resolverKind),
    default: '',
    description: 'Resolvers to use, in order. Default: those of the system.',
  }),
  showPrivateAddresses: setting({
    env: 'SHOW_PRIVATE_ADDRESSES',
    kind: boolean,
    default: 'false',
    description: 'Shows private addresses of routers on the path to clients; they are masked otherwise.',
  }),
  certificates: setting({
    env: 'CA_FILE',
    kind: certificateFile,
    description:
      'File with CA certificates, in PEM, that http checks trust in addition to those of Node, such as a private CA.',
  }),
  packetProcessNode: setting({
    env: 'PACKET_PROCESS_NODE',
    kind: text,
    description:
      'Node.js for the packet process, such as a copy with the capability CAP_NET_RAW. Default: the one ' +
      'that runs the agent.',
  }),
  screenshots: setting({
    env: 'SCREENSHOTS',
    kind: oneOf(screenshotWishes),
    default: 'auto',
    description:
      'Screenshots of http checks. auto: if the self-test of the browser passes; on: the probe is degraded ' +
      'if it does not; off: none.',
  }),
  browser: setting({
    env: 'BROWSER',
    kind: text,
    description:
      'Path of the Chromium for screenshots. Default: `chromium-headless-shell`, else `chromium`, on `PATH`.',
  }),
  path: setting({
    env: 'PATH',
    kind: text,
    default: '/usr/local/bin:/usr/bin:/bin',
    description: 'Folders to search for a browser.',
  }),
  contact: setting({
    env: 'CONTACT',
    kind: contact,
    description:
      'Contact for operators of targets: a URL or a mail address. Included in the `User-Agent` and in probe packets.',
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    description: 'Minimum level of log lines, JSON on standard output.',
  }),
} satisfies Settings;

/** All settings of the agent; source of the settings reference page. */
export const settings = {
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
  concurrency: setting({
    env: 'CONCURRENCY',
    kind: integer(1, 1_000),
    default: '20',
    description:
      'Number of concurrent jobs. Further ones wait in Redis. An agent that connects to Redis has at most 256 jobs, waiting ones included.',
  }),
  checkTypes: setting({
    env: 'CHECK_TYPES',
    kind: offeredTypes,
    default: checkTypeNames.join(','),
    description: 'Check types to offer. A listed type that cannot run on this machine makes the probe degraded.',
  }),
  drainSeconds: setting({
    env: 'DRAIN_SECONDS',
    kind: integer(0, 3_600),
    default: '10',
    description:
      'Time for running jobs after SIGTERM, and for those of its first second, in which coordinators learn of it. Unfinished ' +
      'jobs are then reported as interrupted. The grace period of the supervisor must be some seconds longer.',
  }),
  refusedRetrySeconds: setting({
    env: 'REFUSED_RETRY_SECONDS',
    kind: integer(1, 3_600),
    default: '15',
    description:
      'Least pause of an agent with `VANTAGE_URL` after a refusal, for example while its probe is suspended, before it connects ' +
      'again; the longest is twice as long.',
  }),
  metricsPortFile: setting({
    env: 'METRICS_PORT_FILE',
    kind: text,
    description:
      'File that the port of `/metrics` is written to, for health checks: a free one is used if another process has `METRICS_PORT`.',
  }),
  ...measuringSettings,
  ...telemetrySettings,
} satisfies Settings;

/** How the agent gets its jobs and returns its results. */
export type Transport =
  | {
      readonly kind: 'redis';
      readonly probeId: string;
      readonly url: string;
      readonly certificates: string | undefined;
    }
  | { readonly kind: 'gateway'; readonly url: string };

export type Config = SettingValues<typeof settings> & { readonly transport: Transport };

export type MeasuringConfig = SettingValues<typeof measuringSettings>;

/** @throws SettingsError with all faults of single settings, or else that of their combination */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values = readSettings(settings, environment);
  return { ...values, transport: transportOf(values) };
}

function transportOf(values: SettingValues<typeof settings>): Transport {
  const { vantageUrl, probeId: id, redisUrl } = values;
  const certificates = values.redisCertificates ?? values.redisCa;
  if (vantageUrl === undefined && id !== undefined && redisUrl !== undefined) {
    return { kind: 'redis', probeId: id, url: redisUrl, certificates };
  }
  if (vantageUrl !== undefined && redisUrl === undefined) return { kind: 'gateway', url: vantageUrl };
  throw new SettingsError([
    vantageUrl === undefined
      ? 'VANTAGE_URL is required, or PROBE_ID and REDIS_URL for an agent that connects to Redis'
      : 'VANTAGE_URL and REDIS_URL exclude each other',
  ]);
}

/** @throws SettingsError with all faults */
export function readMeasuringConfig(environment: Readonly<Record<string, string | undefined>>): MeasuringConfig {
  return readSettings(measuringSettings, environment);
}
