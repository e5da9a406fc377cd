/** The location of Redis, parsed from `REDIS_URL`. */
export type RedisAddress = SingleAddress | SentinelAddress | ClusterAddress;

export interface RedisEndpoint {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
}

interface Login {
  /** Login for every data server. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  /** Servers, at least one. */
  readonly endpoints: readonly RedisEndpoint[];
}

export interface SingleAddress extends Login {
  readonly kind: 'single';
  /** The URL as it was given, for ioredis. */
  readonly url: string;
  /** Number of the database. */
  readonly database: number;
}

export interface SentinelAddress extends Login {
  readonly kind: 'sentinel';
  /** The name of the master set at the Sentinels. */
  readonly set: string;
  /** Login for the Sentinels, whose addresses are the endpoints. */
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
}

export interface ClusterAddress extends Login {
  readonly kind: 'cluster';
}

const FORM = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^[\]:]+))(?::(\d{1,5}))?$/i;
const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6_379;

/**
 * Reads the forms of `REDIS_URL`:
 *
 * - `redis://user:password@host:port/0`
 * - `redis+sentinel://user:password@host:port,host:port/set?sentinelUser=…&sentinelPassword=…`
 * - `redis+cluster://user:password@host:port,host:port`
 *
 * and with `rediss` in front the same over TLS.
 *
 * @throws Error whose message completes the sentence “REDIS_URL …” and holds nothing of the text, which may be a secret
 */
export function parseRedisUrl(text: string): RedisAddress {
  const match = FORM.exec(text);
  if (match === null) {
    throw new Error(
      'must begin with redis://, redis+sentinel:// or redis+cluster:// (rediss… for TLS), then its hosts',
    );
  }
  const [, scheme, kind, login, hosts = '', path = '', query = ''] = match;
  const endpoints = hosts
    .split(',')
    .map((host) => readEndpoint(host, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT));
  const shared = { ...readLogin(login), tls: scheme === 'rediss', endpoints };
  if (kind === 'sentinel') return { kind, ...shared, ...readSentinel(path, query) };
  if (kind === 'cluster') {
    if (path !== '' || query !== '') throw new Error('must name nothing but hosts for a cluster: it has one database');
    return { kind, ...shared };
  }
  if (endpoints.length > 1) throw new Error('must name one host; several are redis+sentinel:// or redis+cluster://');
  if (URL.parse(text) === null) throw new Error('must be a URL');
  if (!/^\d{0,5}$/.test(path) || new URLSearchParams(query).has('db')) {
    throw new Error('must name its database, if any, by a number after the host, such as /0');
  }
  return { kind: 'single', ...shared, url: text, database: Number(path) };
}

/** A setting for `readSettings`: validated, kept as text. */
export const redisUrlKind = {
  name: 'URL (redis:, redis+sentinel: or redis+cluster:, or each with rediss: over TLS)',
  parse: (text: string): string => {
    parseRedisUrl(text);
    return text;
  },
} as const;

/** `redisUrlKind` for an agent, whose user may not choose a database. */
export const agentRedisUrlKind = {
  name: redisUrlKind.name,
  parse: (text: string): string => {
    const address = parseRedisUrl(text);
    if (address.kind === 'single' && address.database !== 0) throw new Error('must name no database but 0 for agents');
    return text;
  },
} as const;

function readEndpoint(text: string, defaultPort: number): RedisEndpoint {
  const match = HOST.exec(text.trim());
  const port = Number(match?.[3] ?? defaultPort);
  if (match === null || port < 1 || port > 65_535) throw new Error('must have hosts of the form name:port');
  return { host: (match[1] ?? match[2])!, port };
}

function readLogin(text: string | undefined): Pick<Login, 'username' | 'password'> {
  if (text === undefined) return { username: undefined, password: undefined };
  const colon = text.indexOf(':');
  const [user, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return { username: decoded(user), password: decoded(password) };
}

function readSentinel(
  path: string,
  query: string,
): Pick<SentinelAddress, 'set' | 'sentinelUsername' | 'sentinelPassword'> {
  const set = decoded(path) ?? '';
  if (!/^[A-Za-z0-9._-]+$/.test(set)) throw new Error('must end with the name of the set that the Sentinels watch');
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].some((name) => name !== 'sentinelUser' && name !== 'sentinelPassword');
  if (unknown) throw new Error('must have no more than sentinelUser and sentinelPassword after the question mark');
  return {
    set,
    sentinelUsername: given.get('sentinelUser') ?? undefined,
    sentinelPassword: given.get('sentinelPassword') ?? undefined,
  };
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must have its user and password percent-encoded');
  }
}
