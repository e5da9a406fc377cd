import { randomBytes } from 'node:crypto';

import { openOnce } from '@vantage/redis-connections';
import { uselessAllowance } from '@vantage/target-policy';
import type { Redis } from 'ioredis';

import { isExpired, type ApiKey, type KeySecret } from '../../keys/api-key.ts';
import { createKeyStore, type KeyStore } from '../../keys/key-store.ts';
import { createKeyText, formatKeyText, hashSecret, type KeyText } from '../../keys/key-text.ts';
import { closeAll } from '../../redis/connections.ts';
import type { AdminConfig } from '../config.ts';
import { showFault, showResult, type AdminResult, type AdminStreams } from '../output.ts';
import { readCa } from '../tls/tls-folder.ts';
import { isKeyCommand, keyUsages, readKeyArguments, type KeyCommand } from './key-arguments.ts';

/**
 * Runs an operator command on API keys, without administrator rights in Redis.
 *
 * @param args the command (`key:add`, `key:list`, `key:rotate`, `key:remove`) and its arguments
 * @returns the exit code: 0 success, 1 failure, such as an unknown or existing key, 2 invalid arguments
 */
export async function runKeyAdmin(
  args: readonly string[],
  config: AdminConfig,
  streams: AdminStreams,
): Promise<number> {
  const read = readKeyArguments(args);
  if ('faults' in read) {
    const [word = ''] = args;
    const lines = isKeyCommand(word) ? [keyUsages[word]] : Object.values(keyUsages);
    const usage = ['Usage:', ...lines.map((line) => `  ${line}`)];
    for (const line of [...read.faults, ...usage]) streams.err(line);
    return 2;
  }
  const { given } = read;
  try {
    const certificates = config.certificates ?? readCa(config.tlsFolder);
    const redis = await openOnce({ url: config.redisUrl, certificates, name: 'vantage:key-admin' });
    try {
      return showResult(await runGiven(redis, given), given.json, streams);
    } finally {
      await closeAll([redis]);
    }
  } catch (error) {
    showFault(error, config, streams);
    return 1;
  }
}

async function runGiven(redis: Redis, given: KeyCommand): Promise<AdminResult> {
  const store = createKeyStore(redis);
  const nowMs = await timeOf(redis);
  switch (given.command) {
    case 'key:add':
      return add(store, given, nowMs);
    case 'key:list':
      return list(store, nowMs);
    case 'key:rotate':
      return rotate(store, given, nowMs);
    case 'key:remove':
      return remove(store, given.name);
    default:
      return given satisfies never;
  }
}

type Given<Command extends KeyCommand['command']> = Extract<KeyCommand, { readonly command: Command }>;

async function add(store: KeyStore, given: Given<'key:add'>, nowMs: number): Promise<AdminResult> {
  const { name, scopes, limit, allow, lifeMs } = given;
  const text = await unusedText(store);
  const key: ApiKey = {
    id: randomBytes(12).toString('base64url'),
    name,
    scopes,
    limit,
    allow,
    createdAt: nowMs,
    expiresAt: lifeMs === null ? null : nowMs + lifeMs,
    secrets: [secretOf(text, null)],
  };
  await store.change(name, (known) => {
    if (known !== undefined) throw new Error(`there is a key ${name}: key:rotate gives it a new secret`);
    return key;
  });
  return created(`Key ${name} is added.`, key, text, nowMs);
}

async function rotate(store: KeyStore, given: Given<'key:rotate'>, nowMs: number): Promise<AdminResult> {
  const { name, overlapMs, lifeMs } = given;
  const text = await unusedText(store);
  let older: readonly KeySecret[] = [];
  const rotated = await store.change(name, (known) => {
    if (known === undefined) return undefined;
    const [newest, ...others] = known.secrets;
    older = isExpired(known, nowMs) ? [] : others.filter((secret) => !isExpired(secret, nowMs));
    const expiresAt = lifeMs === undefined ? known.expiresAt : lifeMs === null ? null : nowMs + lifeMs;
    // No secret is valid for longer than its key.
    const keptUntil = Math.min(nowMs + overlapMs, expiresAt ?? Infinity);
    const kept = keptUntil <= nowMs ? [] : [{ ...newest!, expiresAt: keptUntil }];
    return { ...known, expiresAt, secrets: [secretOf(text, null), ...kept] };
  });
  if (rotated === undefined) return none(name);
  const old = rotated.secrets[1];
  const until = old === undefined ? 'is void' : `is valid until ${dateOf(old.expiresAt)}`;
  const ended = older.map(
    ({ prefix, expiresAt }) => `; vtg_${prefix}, which was valid until ${dateOf(expiresAt)}, is void now`,
  );
  return created(`Key ${name} has a new secret; the old one ${until}${ended.join('')}.`, rotated, text, nowMs);
}

async function remove(store: KeyStore, name: string): Promise<AdminResult> {
  return (await store.remove(name)) ? { said: [`Key ${name} is removed.`], warnings: [], done: true } : none(name);
}

async function list(store: KeyStore, nowMs: number): Promise<AdminResult> {
  const keys = (await store.list()).map((key) => describe(key, nowMs));
  return { said: [], warnings: [], done: true, data: { keys }, lines: keys.map((key) => JSON.stringify(key)) };
}

/**
 * The output for a new secret. Without `--json`, only the text of the key is on standard output, for a file or a
 * variable.
 */
function created(sentence: string, key: ApiKey, text: KeyText, nowMs: number): AdminResult {
  const secret = formatKeyText(text);
  const warnings = [
    ...(isExpired(key, nowMs) ? [`The key has expired; key:rotate ${key.name} --expires sets a new end.`] : []),
    ...key.allow.flatMap(allowanceWarnings),
  ];
  return {
    done: true,
    warnings,
    lines: [secret],
    said: [`${sentence} It is printed once; coordinators accept it within two seconds.`],
    data: { key: secret, record: describe(key, nowMs) },
  };
}

/** Warns of a network that has no effect for a key: keys of earlier releases may have such networks. */
function allowanceWarnings(network: string): readonly string[] {
  const reason = uselessAllowance(network);
  return reason === undefined ? [] : [`--allow ${network} of the key has no effect: ${network} ${reason}.`];
}

/** Public fields of a record, without digests. */
function describe({ name, scopes, limit, allow, createdAt, expiresAt, secrets }: ApiKey, nowMs: number): object {
  return {
    name,
    scopes,
    limit,
    allow,
    createdAt: dateOf(createdAt),
    expiresAt: dateOf(expiresAt),
    expired: isExpired({ expiresAt }, nowMs),
    prefixes: secrets
      .filter((secret) => !isExpired(secret, nowMs))
      .map(({ prefix, expiresAt: end }) => ({ prefix: `vtg_${prefix}`, expiresAt: dateOf(end) })),
  };
}

function dateOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function secretOf({ prefix, secret }: KeyText, expiresAt: number | null): KeySecret {
  return { prefix, hash: hashSecret(secret), expiresAt };
}

/** Creates the text of a key with a prefix that no other key has, because coordinators look keys up by prefix. */
async function unusedText(store: KeyStore): Promise<KeyText> {
  const used = new Set((await store.list()).flatMap(({ secrets }) => secrets.map(({ prefix }) => prefix)));
  for (;;) {
    const text = createKeyText();
    if (!used.has(text.prefix)) return text;
  }
}

async function timeOf(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

function none(name: string): AdminResult {
  return { said: [`There is no key ${name}.`], warnings: [], done: false };
}
