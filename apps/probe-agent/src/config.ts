import { readFileSync } from 'node:fs';

import { checkTypeNames } from '@vantage/diagnostics/contract';
import {
  boolean,
  integer,
  list,
  oneOf,
  readSettings,
  setting,
  text,
  url,
  type Kind,
  type Settings,
  type Values,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';

const probeId: Kind<string> = {
  name: 'probe id (lower-case letters, digits and hyphens, at most 63)',
  parse: (value) => {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(value)) {
      throw new Error('must be 1 to 63 lower-case letters, digits and hyphens, and begin with no hyphen');
    }
    return value;
  },
};

/** Read at the start; the value is what is in it. */
const certificateFile: Kind<string> = {
  name: 'PEM file',
  parse: (value) => {
    let content: string;
    try {
      content = readFileSync(value, 'utf8');
    } catch (error) {
      throw new Error('names a file that cannot be read', { cause: error });
    }
    if (!content.includes('-----BEGIN CERTIFICATE-----')) throw new Error('names a file with no certificate in it');
    return content;
  },
};

/** Every setting of the agent; the reference page is made from these. */
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
    kind: url(['redis:', 'rediss:']),
    required: true,
    secret: true,
    description:
      'The Redis that the coordinator uses, with the user and password of this probe; `rediss:` connects over TLS.',
  }),
  redisCertificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'File with the certificates, in PEM, that a `rediss:` server may present; without it those of Node.',
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
  contact: setting({
    env: 'CONTACT',
    kind: contact(),
    description:
      'Where whoever is measured can ask questions: a URL or a mail address. Shown in the `User-Agent` and in probe packets.',
  }),
  drainSeconds: setting({
    env: 'DRAIN_SECONDS',
    kind: integer(0, 3_600),
    default: '10',
    description:
      'Time that running jobs are given after SIGTERM. What is not done by then is reported as interrupted. The ' +
      'grace period of whatever stops the agent must be some seconds longer.',
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    kind: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    default: 'info',
    description: 'How much is logged, as JSON lines on standard output.',
  }),
} satisfies Settings;

export type Config = Values<typeof settings>;

/** @throws SettingsError that lists every fault */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, environment);
}

/** It goes into a header and into packets: printable ASCII, short. */
function contact(): Kind<string> {
  return {
    name: 'URL or mail address, at most 200 characters',
    parse: (value) => {
      const isMail = /^[!-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9.-]+$/.test(value);
      const isUrl = ['http:', 'https:', 'mailto:'].includes(URL.parse(value)?.protocol ?? '');
      if (value.length > 200 || !/^[!-~]+$/.test(value) || /[()]/.test(value) || !(isMail || isUrl)) {
        throw new Error('must be a URL (http, https, mailto) or a mail address of at most 200 characters');
      }
      return value;
    },
  };
}
