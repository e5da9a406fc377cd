import { createHash } from 'node:crypto';

import type { Redis } from 'ioredis';

import { replyCode } from './store.ts';

/** A Lua script of ours, by the SHA-1 that Redis knows it by. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** @param flags of Redis 7: `allow-oom` runs when memory is short too, `no-writes` says that it only reads */
export function defineScript(flags: 'allow-oom' | 'no-writes' | '', body: string): Script {
  const lua = `#!lua${flags === '' ? '' : ` flags=${flags}`}\n${body.trim()}\n`;
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** Loads scripts, so that the first run of each is as short as the others. */
export async function loadScripts(redis: Redis, scripts: readonly Script[]): Promise<void> {
  await Promise.all(scripts.map((script) => redis.script('LOAD', script.lua)));
}

/** Runs a script whose answer holds bytes: every string of it is a Buffer. */
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

/** Runs a script; one that the server does not know (restarted, flushed, another master) is sent along. */
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
