import { readFile } from 'node:fs/promises';

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { onStore } from '../../redis/store.ts';
import {
  firstTickAfter,
  tickAfterMissed,
  type MonitorDefinition,
  type ReadDefinition,
  type StoredMonitor,
} from '../definition.ts';
import { putMonitor, removeMonitor } from '../store/definition-records.ts';
import { readMonitorsFile } from './monitors-file.ts';

export interface MonitorsFile {
  /** Reads the file, and applies it if it changed or Redis lost its monitors. */
  readonly poll: () => Promise<void>;
  /**
   * Why the file is not in effect: it cannot be read or is invalid, or the file of another coordinator was applied.
   * Undefined if none of this is known.
   */
  readonly fault: () => string | undefined;
}

export interface FollowFileDependencies {
  readonly path: string;
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly readDefinition: ReadDefinition;
  readonly log: Log;
}

export function followMonitorsFile(dependencies: FollowFileDependencies): MonitorsFile {
  const { path, redis, readDefinition, log } = dependencies;
  /**
   * Content at the last poll, or why there was none. It is examined only if two polls in a row find it, because a file
   * that is still being written may be a valid prefix of the whole.
   */
  let last: string | undefined;
  let seen: string | undefined;
  let fault: string | undefined;
  let valid: { readonly definitions: readonly MonitorDefinition[]; readonly digest: string } | undefined;
  let applied: Application | undefined;
  let isSuperseded = false;

  const report = (message: string): void => {
    if (message !== fault)
      log.error({ file: path, fault: message }, 'MONITORS_FILE rejected; its last valid content stays');
    fault = message;
  };
  const noteOther = (isOther: boolean): void => {
    if (isOther && !isSuperseded) log.warn({ file: path }, 'MONITORS_FILE of another coordinator is in force');
    isSuperseded = isOther;
  };
  const read = async (): Promise<void> => {
    const text = await readFile(path, 'utf8').catch((error: Error) => error);
    const content = typeof text === 'string' ? text : text.message;
    const isStill = content === last;
    last = content;
    if (!isStill) return;
    if (typeof text !== 'string') {
      seen = undefined;
      return report(`${path}: ${text.message}`);
    }
    if (text === seen) return;
    seen = text;
    const reading = readMonitorsFile(text, readDefinition);
    if (!reading.valid)
      return report(reading.faults.map(({ line, message }) => `${path}:${line}: ${message}`).join('\n'));
    fault = undefined;
    valid = reading;
  };

  return {
    fault: () =>
      fault ?? (isSuperseded ? `${path}: the file of another coordinator differs and is in force` : undefined),
    poll: async () => {
      await read();
      if (valid === undefined) return;
      const { definitions, digest } = valid;
      const stored = readApplication(await onStore(redis, () => redis.get(redisKeys.monitorsFile)));
      // Another coordinator may have applied another version of the file: this file is applied again only after it
      // changed, or after a loss.
      const isLost = applied !== undefined && stored.generation < applied.generation;
      if (applied?.digest === digest && !isLost) return noteOther(stored.digest !== digest);
      noteOther(false);
      const generation = Math.max(stored.generation, applied?.generation ?? 0) + 1;
      if (stored.digest === digest) applied = stored;
      else applied = await onStore(redis, () => applyFile(dependencies, definitions, { digest, generation }));
    },
  };
}

/**
 * The applied file as recorded in Redis. The generation counts applications: a decrease means that Redis lost the
 * last ones.
 */
interface Application {
  readonly digest: string;
  readonly generation: number;
}

/** Parses the note of the last application: digest and number, or the digest alone by an earlier release. */
function readApplication(text: string | null): Application {
  const [digest = '', generation = '0'] = text?.split(' ') ?? [];
  return { digest, generation: Number(generation) };
}

/** Applies the file. The digest is written last: an application that was interrupted is repeated. */
async function applyFile(
  { redis, clock, log, path }: FollowFileDependencies,
  definitions: readonly MonitorDefinition[],
  application: Application,
): Promise<Application> {
  const nowMs = await clock.now(redis);
  const names = new Set(definitions.map(({ name }) => name));
  const stored = Object.entries(await redis.hgetall(redisKeys.monitors));
  const left = stored.filter(
    ([name, text]) => !names.has(name) && (JSON.parse(text) as StoredMonitor).owner === 'file',
  );
  const changes = await Promise.all(
    definitions.map((definition) =>
      putMonitor(
        redis,
        definition.name,
        { owner: 'file', request: definition.request },
        firstTickAfter(nowMs, definition),
        Number.MAX_SAFE_INTEGER,
        tickAfterMissed(nowMs, definition),
      ),
    ),
  );
  await Promise.all(left.map(([name]) => removeMonitor(redis, name, 'file')));
  await redis.set(redisKeys.monitorsFile, `${application.digest} ${application.generation}`);
  const changed = changes.filter((change) => change !== 'same').length;
  log.info({ file: path, monitors: definitions.length, changed, removed: left.length }, 'MONITORS_FILE applied');
  return application;
}
