import { createHash } from 'node:crypto';

import type { Redis } from 'ioredis';

import { replyCode } from './store.ts';

/** A Lua script and its SHA-1, for `EVALSHA`. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** @param flags script flags of Redis 7: `allow-oom` also runs when memory is short, `no-writes` only reads */
export function defineScript(flags: 'allow-oom' | 'no-writes' | '', body: string): Script {
  const lua = `#!lua${flags === '' ? '' : ` flags=${flags}`}\n${body.trim()}\n`;
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** The error for a text that a script caught, such as `WRONGTYPE …`. */
export function replyError(text: string): Error {
  return Object.assign(new Error(text), { name: 'ReplyError' });
}

/** Loads scripts, so that the first run of each is not slower. */
export async function loadScripts(redis: Redis, scripts: readonly Script[]): Promise<void> {
  await Promise.all(scripts.map((script) => redis.script('LOAD', script.lua)));
}

/** Runs a script whose reply contains bytes: every string in it is a Buffer. */
export async function runScriptForBytes(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.callBuffer('evalsha', ...callOf(script.sha, keys, values));
  } catch (error) {
    if (replyCode(error) !== 'NOSCRIPT') throw error;
    return redis.callBuffer('eval', ...callOf(script.lua, keys, values));
  }
}

function callOf(script: string, keys: readonly string[], values: readonly (string | number)[]): readonly string[] {
  return [script, String(keys.length), ...keys, ...values.map(String)];
}

/** Runs a script; sends its text if the server does not know it, for example after a restart or failover. */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  values: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (replyCode(error) !== 'NOSCRIPT') throw error;
    return redis.eval(script.lua, keys.length, ...keys, ...values);
  }
}
