import { nearestWord } from '@vantage/contract';
import {
  contact,
  integer,
  list,
  oneOf,
  readSettings,
  setting,
  text,
  unknownVariables,
  url,
  type SettingValues,
  type UnknownVariable,
} from '@vantage/settings';
import { policyKinds, resolverKind } from '@vantage/target-policy';
import { telemetrySettings } from '@vantage/telemetry';

import { limitSettings } from './limit-settings.ts';
import { redisSettings } from './redis-settings.ts';
import { publicUrl, webhookSecrets } from './setting-kinds.ts';

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
  ...redisSettings,
  ...limitSettings,
  modulesFile: setting({
    env: 'MODULES_FILE',
    kind: text,
    description:
      'File with the modules of `GET /probe`: the `blackbox.yml` of Prometheus’ blackbox_exporter. It is read again ' +
      'when it changes. Default: `http_2xx`, `tcp_connect`, `icmp`, `icmp_ttl5`, `traceroute`, `dns`.',
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

/** Variables that are probably mistyped names of settings. */
export function mistypedSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly UnknownVariable[] {
  return unknownVariables(settings, environment, nearestWord);
}
