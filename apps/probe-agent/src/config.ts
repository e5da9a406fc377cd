import { checkTypeNames } from '@vantage/diagnostics/contract';
import { redisUrlKind } from '@vantage/redis-connections';
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
  text,
  type Kind,
  type Settings,
  type Values,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';
import { telemetrySettings } from '@vantage/telemetry';

import { screenshotWishes } from './screenshot-offer.ts';

const probeId: Kind<string> = {
  name: 'probe id (lower-case letters, digits and hyphens, at most 63)',
  parse: (value) => {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) {
      throw new Error('must be 1 to 63 lower-case letters, digits and hyphens, and begin with no hyphen');
    }
    return value;
  },
};

/** Settings of measurements, shared by jobs and `vantage-agent run`. */
export const measuringSettings = {
  targetAllow: setting({
    env: 'TARGET_ALLOW',
    kind: list(policyKinds.allow),
    default: '',
    description:
      'Ranges that may be measured although the target policy refuses them, for watching an own network or for ' +
      'trials. Never opens the address and port of Redis, and no link-local address by itself.',
  }),
  targetAllowLinkLocal: setting({
    env: 'TARGET_ALLOW_LINK_LOCAL_AND_METADATA_I_KNOW_WHAT_THIS_MEANS',
    kind: boolean,
    default: 'false',
    description:
      'Lets `TARGET_ALLOW` open link-local and cloud metadata addresses too. Whoever may call the API can then read ' +
      'the credentials that a cloud gives this machine.',
  }),
  targetAllowNames: setting({
    env: 'TARGET_ALLOW_NAMES',
    kind: list(policyKinds.allowNames),
    default: '',
    description:
      'Names, and with them all below, that may be measured although they are special-use or have no public suffix, ' +
      'such as `lan`. Their addresses are judged as any other.',
  }),
  targetDeny: setting({
    env: 'TARGET_DENY',
    kind: list(policyKinds.deny),
    default: '',
    description: 'Domains and ranges that are never measured; stronger than every setting that allows.',
  }),
  networkLimit: setting({
    env: 'TARGET_NETWORK_LIMIT',
    kind: integer(1, 1_000_000_000),
    default: '1200',
    description:
      'Runs of checks a minute at one network, whatever the names that led there: a /24 of IPv4 or a /48 of IPv6. ' +
      'Further ones end as `target_rate_limited`.',
  }),
  ownAddresses: setting({
    env: 'OWN_ADDRESSES',
    kind: list(policyKinds.allow),
    default: '',
    description:
      'Further addresses of this probe and of the service, such as its public address behind a NAT, that it must not ' +
      'measure. Those of its interfaces, their networks, its gateways, resolvers and Redis are known.',
  }),
  dnsServers: setting({
    env: 'DNS_SERVERS',
    kind: list(resolverKind),
    default: '',
    description: 'Resolvers to use, in order; without any the ones that the system is configured with.',
  }),
  showPrivateAddresses: setting({
    env: 'SHOW_PRIVATE_ADDRESSES',
    kind: boolean,
    default: 'false',
    description: 'Shows callers the private addresses of routers on the path, which are masked otherwise.',
  }),
  certificates: setting({
    env: 'CA_FILE',
    kind: certificateFile,
    description:
      'File with certificates, in PEM, that http checks trust beside those that Node trusts, such as an own CA.',
  }),
  packetProcessNode: setting({
    env: 'PACKET_PROCESS_NODE',
    kind: text,
    description:
      'Node.js that runs the packet process, such as a copy that carries the capability CAP_NET_RAW; without it the ' +
      'one that runs the agent.',
  }),
  screenshots: setting({
    env: 'SCREENSHOTS',
    kind: oneOf(screenshotWishes),
    default: 'auto',
    description:
      'Screenshots of http checks. auto: where the self-test of the browser passes; on: the probe is degraded where it ' +
      'does not; off: none.',
  }),
  browser: setting({
    env: 'BROWSER',
    kind: text,
    description:
      'File of the Chromium that takes screenshots; without it `chromium-headless-shell`, or else `chromium`, on `PATH`.',
  }),
  path: setting({
    env: 'PATH',
    kind: text,
    default: '/usr/local/bin:/usr/bin:/bin',
    description: 'Folders in which a browser is looked for.',
  }),
  contact: setting({
    env: 'CONTACT',
    kind: contact,
    description:
      'Where whoever is measured can ask questions: a URL or a mail address. Shown in the `User-Agent` and in probe packets.',
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    description: 'How much is logged, as JSON lines on standard output.',
  }),
} satisfies Settings;

/** All settings of the agent; source of the settings reference page. */
export const settings = {
  probeId: setting({
    env: 'PROBE_ID',
    kind: probeId,
    required: true,
    description:
      'Identifier of this probe, the same as in the operator’s record of it. One agent per identifier: a second ' +
      'would take the jobs of the first for leftovers.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: redisUrlKind,
    required: true,
    secret: true,
    description:
      'The Redis that the coordinator uses, with the user and password of this probe: ' +
      '`redis://user:password@host:port`, `redis+sentinel://user:password@host:port,host:port/set` with the Sentinels ' +
      'as hosts, or `redis+cluster://user:password@host:port,host:port`; with `rediss` in front over TLS.',
  }),
  redisCertificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'File with the certificates, in PEM, that a `rediss:` server may present; without it those of Node.',
  }),
  redisCa: setting({
    env: 'REDIS_CA',
    kind: certificateText,
    description: 'The same in the variable itself, as `probe:add` prints it. `REDIS_CA_FILE` comes first.',
  }),
  concurrency: setting({
    env: 'CONCURRENCY',
    kind: integer(1, 1_000),
    default: '20',
    description: 'Jobs that run at once. Further ones wait in Redis.',
  }),
  checkTypes: setting({
    env: 'CHECK_TYPES',
    kind: list(oneOf(checkTypeNames)),
    default: checkTypeNames.join(','),
    description:
      'Check types to offer. One that is listed here and cannot be run on this machine makes the probe degraded.',
  }),
  drainSeconds: setting({
    env: 'DRAIN_SECONDS',
    kind: integer(0, 3_600),
    default: '10',
    description:
      'Time that running jobs are given after SIGTERM. What is not done by then is reported as interrupted. The ' +
      'grace period of whatever stops the agent must be some seconds longer.',
  }),
  ...measuringSettings,
  ...telemetrySettings,
} satisfies Settings;

export type Config = Values<typeof settings>;

export type MeasuringConfig = Values<typeof measuringSettings>;

/** @throws SettingsError with all faults */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, environment);
}

/** @throws SettingsError with all faults */
export function readMeasuringConfig(environment: Readonly<Record<string, string | undefined>>): MeasuringConfig {
  return readSettings(measuringSettings, environment);
}
