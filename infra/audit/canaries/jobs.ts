import type { AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { CANARIES, GATEWAY_PORT, OWN, PUBLIC, REDIS_PORT, SPELLINGS, WORLD, ZONE } from './addresses.ts';
import { canaryNames, nameOf } from './names.ts';

/** A job as added to the agent's queue; no coordinator has validated it. */
export interface CanaryJob {
  readonly type: string;
  readonly params: { readonly host: string; readonly options?: object; readonly [field: string]: unknown };
  /**
   * True if the agent must refuse the job. Otherwise any result is correct, provided that no canary receives a packet.
   */
  readonly refused: boolean;
}

/** URLs to which `http://public…/to/<n>` redirects, by n. */
export const redirects: readonly string[] = [
  ...[...Object.keys(CANARIES), ...OWN].map((address) => `http://${inUrl(address)}/`),
  ...SPELLINGS.map((host) => `http://${host}/`),
  ...canaryNames.map(({ name }) => `http://redirected.${name}/`),
  'file:///etc/passwd',
  'gopher://10.0.0.1:6379/_PING',
  'ftp://10.0.0.1/',
  '//10.0.0.1/',
  'http:10.0.0.1/',

  `http://10.0.0.1@${PUBLIC.ipv4}:80@10.0.0.1/`,
  'http://10.0.0.1\\@example.net/',
  `http://${WORLD.ipv4}:${REDIS_PORT}/`,
  `http://${WORLD.ipv4}:${GATEWAY_PORT}/`,
];

/**
 * Jobs of every check type with a target, for addresses, notations and names that must not be touched. Others lead
 * there by redirects, by the resolvers of dns checks, and by delegations, or to the ports of Redis and the gateway.
 */
export function canaryJobs(): readonly CanaryJob[] {
  const hosts = [...Object.keys(CANARIES), ...OWN, ...SPELLINGS];
  const direct = hosts.flatMap((host) => kinds(host, inUrl(host)).map((job) => ({ ...job, refused: true })));
  // Each job has a separate name, because the first query for a name may be answered differently.
  const named = canaryNames.flatMap(({ name, mayAnswer = false }) =>
    kinds('', '').flatMap((_, index) => {
      const own = `check-${index}.${name}`;
      return [{ ...kinds(own, own)[index]!, refused: !mayAnswer }];
    }),
  );
  const redirected = redirects.map((_, index) => http(`http://public.${ZONE}/to/${index}`));
  // A dns check may return such an address as data, but must not query a server there.
  const asked = [...Object.keys(CANARIES), ...OWN.filter((own) => own !== WORLD.ipv4)].flatMap((resolver) =>
    (['udp', 'tcp', 'tls', 'https'] as const).map((transport) => dns({ resolver, transport }, true)),
  );
  const askedByName = canaryNames.map(({ name, mayAnswer = false }) => dns({ resolver: `asked.${name}` }, !mayAnswer));
  const traced = canaryNames.map((_, index) => ({
    type: 'dns',
    refused: false,
    params: { host: `delegated-${index}.${ZONE}`, options: { trace: true } },
  }));
  const service = [WORLD.ipv4, nameOf(WORLD.ipv4)].flatMap((host) =>
    [REDIS_PORT, GATEWAY_PORT].map((port) => ({
      type: 'tcp',
      refused: true,
      params: { host, port, options: { attempts: 1 } },
    })),
  );
  return [...direct, ...named, ...redirected, ...asked, ...askedByName, ...traced, ...service];
}

/** Jobs whose target is a canary that the agent may measure; they show that touches are detected. */
export function allowedJobs(canary: string): readonly CanaryJob[] {
  return kinds(canary, inUrl(canary)).map((job) => ({ ...job, refused: false }));
}

const ANY_CERTIFICATE = { insecureSSL: true };

type Job = Omit<CanaryJob, 'refused'>;

function kinds(host: string, urlHost: string): readonly Job[] {
  const chosen: readonly Job[] = [
    { type: 'ping', params: { host, options: { count: 1 } } },
    { type: 'tcp', params: { host, port: 80, options: { attempts: 1 } } },
    { type: 'udp', params: { host, port: 53, options: { attempts: 1 } } },
    { type: 'http', params: { host: `http://${urlHost}/`, ...ANY_CERTIFICATE } },
    { type: 'http', params: { host: `https://${urlHost}/`, ...ANY_CERTIFICATE } },
    { type: 'traceroute', params: { host, options: { protocol: 'udp', maxHops: 2, queries: 1 } } },
    { type: 'info', params: { host } },
  ];
  return [...chosen, ...otherKinds(chosen, host, urlHost)];
}

/**
 * A job with the defaults of each check type for which none was chosen, except dns, whose host is a name to query and
 * no target.
 */
function otherKinds(chosen: readonly Job[], host: string, urlHost: string): readonly Job[] {
  const others: readonly AnyCheckType[] = Object.values(checkTypes).filter(
    ({ type, hostKind }) => hostKind !== 'name' && !chosen.some((job) => job.type === type),
  );
  return others.map(({ type, hostKind, fields }) => ({
    type,
    params: {
      host: hostKind === 'url' ? `http://${urlHost}/` : host,
      ...(Object.hasOwn(fields as object, 'port') && { port: 80 }),
    },
  }));
}

function http(url: string): CanaryJob {
  return { type: 'http', params: { host: url, ...ANY_CERTIFICATE, options: { followRedirects: 10 } }, refused: false };
}

function dns(options: object, refused: boolean): CanaryJob {
  return { type: 'dns', params: { host: `public.${ZONE}`, options }, refused };
}

function inUrl(host: string): string {
  return /^[0-9a-f:]+(\d+\.\d+\.\d+\.\d+)?$/i.test(host) && host.includes(':') ? `[${host}]` : host;
}
