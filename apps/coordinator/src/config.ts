import { isIP } from 'node:net';

import { integer, list, oneOf, readSettings, setting, text, url, type Kind, type Values } from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';

import type { TrustedProxies } from './app.ts';

/** A number no client reaches, for whoever wants no limit. */
const HIGHEST_LIMIT = 1_000_000_000;

const trustedProxies: Kind<TrustedProxies> = {
  name: 'number of proxies, or comma-separated list of addresses and CIDRs',
  parse: (value) => {
    if (/^[1-9]\d?$/.test(value)) return Number(value);
    const entries = list(network).parse(value);
    if (entries.length === 0) throw new Error('must be a number of proxies from 1 to 99, or addresses and CIDRs');
    return entries;
  },
};

const network: Kind<string> = {
  name: 'IP address or CIDR',
  parse: (value) => {
    const [address = '', length, ...rest] = value.split('/');
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const lengthFits = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
    if (bits < 0 || !lengthFits || rest.length > 0) throw new Error('must be an IP address or a CIDR');
    return value;
  },
};

const ownPaths: ReadonlySet<string> = new Set(['check', 'probes', 'me', 'docs', 'problems', 'healthz', 'readyz']);

const publicUrl: Kind<string> = {
  name: 'absolute http(s) URL, with a path prefix if there is one',
  parse: (value) => {
    const checked = url(['http:', 'https:']).parse(value);
    const { pathname, search, hash, username, password } = new URL(checked);
    if (search !== '' || hash !== '' || username !== '' || password !== '') {
      throw new Error('must have no query, fragment or credentials');
    }
    // The service answers without its prefix too: with such a one a path could mean two things.
    const [, first = ''] = pathname.split('/');
    if (ownPaths.has(first)) throw new Error(`must not have the path prefix /${first}, which is a path of the service`);
    return checked;
  },
};

function rateLimit(endpoint: string, env: string) {
  return setting({
    env,
    kind: integer(1, HIGHEST_LIMIT),
    default: '20',
    description: `Requests a minute of one client address to ${endpoint}.`,
  });
}

/** Every setting of the coordinator; the reference page is made from these. */
export const settings = {
  host: setting({ env: 'HOST', kind: text, default: '127.0.0.1', description: 'Address to listen on.' }),
  port: setting({
    env: 'PORT',
    kind: integer(0, 65_535),
    default: '8080',
    description: 'Port to listen on; 0 takes a free one.',
  }),
  publicUrl: setting({
    env: 'PUBLIC_URL',
    kind: publicUrl,
    description:
      'Base address that callers use; makes every link. With a path prefix the service answers below it and, for ' +
      'proxies that strip it, without. Default: the address it listens on.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: url(['redis:', 'rediss:']),
    required: true,
    secret: true,
    description: 'Redis that holds queues, checks and limits, with the user and password of the coordinator.',
  }),
  rateLimitCreateCheck: rateLimit('`POST /check`', 'RATE_LIMIT_CHECK'),
  rateLimitReadCheck: rateLimit('`GET /check/:id/results`', 'RATE_LIMIT_RESULTS'),
  rateLimitListProbes: rateLimit('`GET /probes`', 'RATE_LIMIT_PROBES'),
  rateLimitShowCaller: rateLimit('`GET /me`', 'RATE_LIMIT_ME'),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    kind: trustedProxies,
    description:
      'Proxies whose `X-Forwarded-For` counts: how many stand in front, or their addresses and CIDRs. Default: none, ' +
      'the address of the connection is the caller’s.',
  }),
  resultRetentionSeconds: setting({
    env: 'RESULT_RETENTION_SECONDS',
    kind: integer(60, 30 * 86_400),
    default: '86400',
    description: 'How long results are kept.',
  }),
  targetAllow: setting({
    env: 'TARGET_ALLOW',
    kind: list(policyKinds.allow),
    default: '',
    description:
      'Addresses and CIDRs that the coordinator does not refuse although they are special. Each agent has its own.',
  }),
  targetAllowNames: setting({
    env: 'TARGET_ALLOW_NAMES',
    kind: list(policyKinds.allowNames),
    default: '',
    description:
      'Names, and with them all below, that the coordinator does not refuse although they are special-use or have no ' +
      'public suffix, such as `lan`. Each agent has its own.',
  }),
  targetDeny: setting({
    env: 'TARGET_DENY',
    kind: list(policyKinds.deny),
    default: '',
    description: 'Addresses, CIDRs and domains that nobody may measure; beats every allowance.',
  }),
  geoCityMmdb: setting({
    env: 'GEO_CITY_MMDB',
    kind: text,
    description: 'MMDB file with cities, asked before the bundled data.',
  }),
  geoAsnMmdb: setting({
    env: 'GEO_ASN_MMDB',
    kind: text,
    description: 'MMDB file with autonomous systems, asked before the bundled data.',
  }),
  geoIspMmdb: setting({
    env: 'GEO_ISP_MMDB',
    kind: text,
    description: 'MMDB file with network providers, asked before the bundled data.',
  }),
  rdapBaseUrl: setting({
    env: 'RDAP_BASE_URL',
    kind: url(['http:', 'https:']),
    description:
      'RDAP server that is asked who holds the network of the target of an `info` check, such as `https://rdap.org/`. ' +
      'Default: none is asked.',
  }),
  dnsServers: setting({
    env: 'DNS_SERVERS',
    kind: list(resolverKind),
    default: '',
    description:
      'Resolvers that look up the host name of a caller for `GET /me`, `address` or `address:port`. Default: those of the system.',
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    kind: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'The least important lines that are logged.',
  }),
} as const;

export type Config = Values<typeof settings>;

/** @throws SettingsError that lists every fault */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, environment);
}
