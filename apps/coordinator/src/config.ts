import { checkTypes } from '@vantage/diagnostics/contract';
import { redisUrlKind } from '@vantage/redis-connections';
import {
  contact,
  certificateFile,
  integer,
  list,
  oneOf,
  readSettings,
  setting,
  text,
  url,
  type VariableKind,
  type SettingValues,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';
import { telemetrySettings } from '@vantage/telemetry';

import type { TrustedProxies } from './app.ts';
import { readWebhookSecret } from './monitors/webhooks/signature.ts';
import { network } from './network-kind.ts';

/** Highest value of a limit, for operators who want no limit. */
const HIGHEST_LIMIT = 1_000_000_000;

const trustedProxies: VariableKind<TrustedProxies | undefined> = {
  name: 'number of proxies, or comma-separated list of addresses and CIDRs',
  parse: (value) => {
    if (value === '0') return undefined;
    if (/^[1-9]\d?$/.test(value)) return Number(value);
    const entries = list(network).parse(value);
    if (entries.length === 0) throw new Error('must be a number of proxies from 0 to 99, or addresses and CIDRs');
    return entries;
  },
};

const typeCost: VariableKind<readonly [type: string, cost: number]> = {
  name: '`type=cost` with a cost from 0 to 1000',
  parse: (value) => {
    const [type = '', cost = '', ...rest] = value.split('=');
    const isCost = /^\d{1,4}$/.test(cost) && Number(cost) <= 1_000;
    if (!Object.hasOwn(checkTypes, type) || !isCost || rest.length > 0) {
      throw new Error(`must be a check type (${Object.keys(checkTypes).join(', ')}), =, and a cost from 0 to 1000`);
    }
    return [type, Number(cost)];
  },
};

const typeCosts: VariableKind<ReadonlyMap<string, number>> = {
  name: list(typeCost).name,
  parse: (value) => {
    const entries = list(typeCost).parse(value);
    const costs = new Map(entries);
    if (costs.size < entries.length) throw new Error('must have each check type once');
    return costs;
  },
};

const ownPaths: ReadonlySet<string> = new Set([
  'check',
  'probes',
  'probe',
  'sd',
  'monitors',
  'metrics',
  'me',
  'docs',
  'problems',
  'healthz',
  'readyz',
  'agent',
]);

/** One secret, or two during a rotation. The error has no part of the value. */
const webhookSecrets: VariableKind<readonly Buffer[]> = {
  name: '`whsec_` and base64, or two of these separated by a comma',
  parse: (value) => {
    const secrets = value.split(',').map((part) => readWebhookSecret(part.trim()));
    if (secrets.length > 2 || !secrets.every((secret) => secret !== undefined)) {
      throw new Error('must be whsec_ and 24 to 64 bytes in base64, or two of these separated by a comma');
    }
    return secrets;
  },
};

const publicUrl: VariableKind<string> = {
  name: 'absolute http(s) URL, with a path prefix if there is one',
  parse: (value) => {
    const checked = url(['http:', 'https:']).parse(value);
    const { pathname, search, hash, username, password } = new URL(checked);
    if (search !== '' || hash !== '' || username !== '' || password !== '') {
      throw new Error('must have no query, fragment or credentials');
    }
    // Routes are also served without the prefix, so a prefix that is a path of the service would be ambiguous.
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

/** All settings of the coordinator; source of the reference page. */
export const settings = {
  host: setting({ env: 'HOST', kind: text, default: '127.0.0.1', description: 'Address to listen on.' }),
  port: setting({
    env: 'PORT',
    kind: integer(0, 65_535),
    default: '8080',
    description: 'Port to listen on; 0 selects a free one.',
  }),
  publicUrl: setting({
    env: 'PUBLIC_URL',
    kind: publicUrl,
    description:
      'Base address for clients; all links start with it. With a path prefix the service answers below it ' +
      'and, for proxies that strip it, without it. All coordinators need the same one. Default: the listening address.',
  }),
  gateway: setting({
    env: 'GATEWAY',
    kind: oneOf(['on', 'off', 'only']),
    default: 'on',
    description:
      'Whether agents may connect to this process, by WebSocket at `/agent` below the public address. Every process with it ' +
      'serves every agent. With `only` it answers nothing else but `/healthz`, `/readyz` and, at `METRICS_PORT`, `/metrics`.',
  }),
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: redisUrlKind,
    required: true,
    secret: true,
    description:
      'Redis for queues, checks and limits, with the user and password of the coordinator: ' +
      '`redis://user:password@host:port`, `redis+sentinel://user:password@host:port,host:port/set` with ' +
      'the Sentinels ' +
      'as hosts, or `redis+cluster://user:password@host:port,host:port`; with `rediss` in place of `redis` over TLS.',
  }),
  redisCertificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'File with CA certificates for `rediss:` servers, in PEM. Default: those of Node.',
  }),
  probeKeysMaxMiB: setting({
    env: 'PROBE_KEYS_MAX_MIB',
    kind: integer(1, 1_048_576),
    default: '256',
    description:
      'Redis memory for the keys of one probe, MiB. Beyond it the probe’s agent is suspended until ' +
      '`probe:enable`, and its keys are removed.',
  }),
  screenshotsMaxMiB: setting({
    env: 'SCREENSHOTS_MAX_MIB',
    kind: integer(4, 1_048_576),
    default: '256',
    description:
      'Redis memory for the screenshots of all checks, MiB. Beyond it the oldest are removed early; the results stay.',
  }),
  resultsMaxMiB: setting({
    env: 'RESULTS_MAX_MIB',
    kind: integer(1, 1_048_576),
    description:
      'Redis memory for the results of all checks, MiB. Beyond it the oldest checks of the clients with ' +
      'the most data are removed early and answered with 410. Default: half of the `maxmemory` of Redis, ' +
      '512 if it has none.',
  }),
  clientResultsMaxMiB: setting({
    env: 'RESULTS_CLIENT_MAX_MIB',
    kind: integer(1, 1_048_576),
    description:
      'Redis memory for the results of one client address (IPv6: /64), MiB. Default: a quarter of ' +
      '`RESULTS_MAX_MIB`.',
  }),
  redisReplicas: setting({
    env: 'REDIS_REPLICAS',
    kind: integer(0, 5),
    default: '1',
    description:
      'Number of Redis replicas that must have a check before it is answered with 202. If fewer are ' +
      'connected, all of them; a single server causes no wait. 0 disables the wait.',
  }),
  redisReplicaMilliseconds: setting({
    env: 'REDIS_REPLICA_MILLISECONDS',
    kind: integer(10, 1_000),
    default: '500',
    description: 'Time limit of that wait; a check that connected replicas do not have by then is refused with 503.',
  }),
  longestQueueMilliseconds: setting({
    env: 'LONGEST_QUEUE_MILLISECONDS',
    kind: integer(100, 60_000),
    default: '2000',
    description:
      'Maximum expected queueing delay of a job at a probe. Checks that would wait longer are refused with ' +
      '503, and no check type gets more than three quarters of it.',
  }),
  rateLimitCreateCheck: rateLimit('`POST /check`', 'RATE_LIMIT_CHECK'),
  rateLimitReadCheck: rateLimit('`GET /check/:id/results`', 'RATE_LIMIT_RESULTS'),
  rateLimitFollowCheck: rateLimit('`GET /check/:id/events`', 'RATE_LIMIT_EVENTS'),
  rateLimitShowScreenshot: rateLimit('`GET /check/:id/screenshot`', 'RATE_LIMIT_SCREENSHOT'),
  rateLimitShowSummary: rateLimit(
    '`/check/:id/summary`, comparisons, badges, cards, embedded checks and previews of links together',
    'RATE_LIMIT_SUMMARY',
  ),
  rateLimitListProbes: rateLimit('`GET /probes` and `GET /probes/agents` together', 'RATE_LIMIT_PROBES'),
  rateLimitReadMonitors: rateLimit(
    '`/monitors`, `/monitors/:name`, `/monitors/:name/events` and `/metrics/monitors` together',
    'RATE_LIMIT_MONITORS',
  ),
  rateLimitShowCaller: rateLimit('`GET /me`', 'RATE_LIMIT_ME'),
  modulesFile: setting({
    env: 'MODULES_FILE',
    kind: text,
    description:
      'File with the modules of `GET /probe`: the `blackbox.yml` of Prometheus’ blackbox_exporter. It is read again ' +
      'when it changes. Default: `http_2xx`, `tcp_connect`, `icmp`, `icmp_ttl5`, `traceroute`, `dns`.',
  }),
  scrapeNetworks: setting({
    env: 'SCRAPE_NETWORKS',
    kind: list(network),
    default: '',
    description:
      'Addresses and CIDRs of clients that may use `GET /probe`, `GET /sd` and `GET /sd/agents` without an API key. Default: none.',
  }),
  rateLimitScrape: setting({
    env: 'RATE_LIMIT_SCRAPE',
    kind: integer(1, HIGHEST_LIMIT),
    default: '1200',
    description: 'Requests a minute of one client address to `GET /probe`, `GET /sd` and `GET /sd/agents` together.',
  }),
  targetLimit: setting({
    env: 'RATE_LIMIT_TARGET',
    kind: integer(1, HIGHEST_LIMIT),
    default: '1200',
    description:
      'Cost of the probe runs a minute at one target over all clients: a registrable domain with all names ' +
      'below it, or the /24 or /64 of a literal address. A run costs 1 for each 48 packets or 256 KiB that ' +
      'its options allow. A check above the limit is admitted if there was none in the last minute.',
  }),
  targetPortsLimit: setting({
    env: 'RATE_LIMIT_TARGET_PORTS',
    kind: integer(1, HIGHEST_LIMIT),
    default: '100',
    description: 'Different ports of one target a minute, over all clients, by tcp and udp.',
  }),
  clientTargetsLimit: setting({
    env: 'RATE_LIMIT_CLIENT_TARGETS',
    kind: integer(1, HIGHEST_LIMIT),
    default: '100',
    description: 'Different pairs of target and port of one client a minute, by tcp and udp.',
  }),
  targetCosts: setting({
    env: 'RATE_LIMIT_COSTS',
    kind: typeCosts,
    default: '',
    description: 'Minimum cost of a probe run of a check type in `RATE_LIMIT_TARGET`, as `type=cost`.',
  }),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    kind: trustedProxies,
    description:
      'Proxies whose `X-Forwarded-For` is trusted: their number, or their addresses and CIDRs. Default: ' +
      'none; the client’s address is that of the connection.',
  }),
  eventStreamsPerClient: setting({
    env: 'EVENT_STREAMS_PER_CLIENT',
    kind: integer(1, 100_000),
    default: '32',
    description:
      'Event streams, of checks and monitors together, of one client address open at a time, on one coordinator.',
  }),
  eventStreams: setting({
    env: 'EVENT_STREAMS',
    kind: integer(1, 100_000),
    default: '5000',
    description: 'Event streams, of checks and monitors together, of all clients open at a time, on one coordinator.',
  }),
  monitorsMax: setting({
    env: 'MONITORS_MAX',
    kind: integer(0, 1_000_000),
    default: '1000',
    description: 'Number of monitors from which on clients can make no more.',
  }),
  monitorsFile: setting({
    env: 'MONITORS_FILE',
    kind: text,
    description:
      'YAML file with [monitors](../monitors.md). It is followed: a change applies within seconds, and while the file ' +
      'is not valid its last valid content stays in force.',
  }),
  webhookSecrets: setting({
    env: 'WEBHOOK_SECRET',
    kind: webhookSecrets,
    secret: true,
    description:
      'Secret that signs the [webhooks](../monitors.md#webhooks) of monitors, in the form of Standard Webhooks: `whsec_` and ' +
      '24 to 64 bytes in base64; a second one signs too, during a [rotation](../monitors.md#webhooks). Without it monitors cannot have webhooks.',
  }),
  resultRetentionSeconds: setting({
    env: 'RESULT_RETENTION_SECONDS',
    kind: integer(1, 30 * 86_400),
    default: '86400',
    description: 'Time for which results are kept.',
  }),
  targetAllow: setting({
    env: 'TARGET_ALLOW',
    kind: list(policyKinds.allow),
    default: '',
    description: 'Special addresses and CIDRs that the coordinator allows. Set it on each agent too.',
  }),
  targetAllowNames: setting({
    env: 'TARGET_ALLOW_NAMES',
    kind: list(policyKinds.allowNames),
    default: '',
    description:
      'Names, including all names below them, that the coordinator allows although they are special-use or ' +
      'have no public suffix, such as `lan`. Set it on each agent too.',
  }),
  targetDeny: setting({
    env: 'TARGET_DENY',
    kind: list(policyKinds.deny),
    default: '',
    description: 'Addresses, CIDRs and domains that are never measured; overrides every setting that allows.',
  }),
  contact: setting({
    env: 'CONTACT',
    kind: contact,
    description:
      'Contact for operators of targets: a URL or a mail address. Published at `/.well-known/probing.txt` ' +
      '(RFC 9511) and, without `SECURITY_CONTACT`, at `/.well-known/security.txt`; a page without a contact ' +
      'answers 404. Set it on each agent too.',
  }),
  securityContact: setting({
    env: 'SECURITY_CONTACT',
    kind: contact,
    description: 'Contact for vulnerability reports. Published at `/.well-known/security.txt` (RFC 9116).',
  }),
  geoCityMmdb: setting({
    env: 'GEO_CITY_MMDB',
    kind: text,
    description: 'MMDB file with cities; takes precedence over the bundled data.',
  }),
  geoAsnMmdb: setting({
    env: 'GEO_ASN_MMDB',
    kind: text,
    description: 'MMDB file with autonomous systems; takes precedence over the bundled data.',
  }),
  geoIspMmdb: setting({
    env: 'GEO_ISP_MMDB',
    kind: text,
    description: 'MMDB file with network providers; takes precedence over the bundled data.',
  }),
  rdapBaseUrl: setting({
    env: 'RDAP_BASE_URL',
    kind: url(['http:', 'https:']),
    description:
      'RDAP server for the registrant of the target’s network in `info` checks, such as ' +
      '`https://rdap.org/`. Default: none.',
  }),
  dnsServers: setting({
    env: 'DNS_SERVERS',
    kind: list(resolverKind),
    default: '',
    description:
      'Resolvers for the host name of a client in `GET /me`, `address` or `address:port`. Default: those ' +
      'of the system.',
  }),
  ...telemetrySettings,
  logLevel: setting({
    env: 'LOG_LEVEL',
    kind: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Minimum level of log lines.',
  }),
} as const;

export type Config = SettingValues<typeof settings>;

/** @throws SettingsError that lists every invalid setting */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return readSettings(settings, environment);
}
