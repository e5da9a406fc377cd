import {
  boolean,
  certificateFile,
  contact,
  integer,
  list,
  oneOf,
  setting,
  text,
  type Settings,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';

/** Operator setting: `auto` takes screenshots if possible and is not degraded otherwise. */
export const screenshotWishes = ['auto', 'on', 'off'] as const;
export type ScreenshotWish = (typeof screenshotWishes)[number];

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
