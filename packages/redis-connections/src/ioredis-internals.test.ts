import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { Command, Redis, SentinelConnector } from 'ioredis';

/**
 * The release whose source was reviewed for `reply-watch.ts`, `sentinel-connector.ts`, `turn-redis.ts` and
 * `young-commands.ts`. Review the source of another release before changing this value.
 */
const REVIEWED = '6.0.0';

const root = join(import.meta.dirname, '../../..');

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

describe('the internals of ioredis that are overridden', () => {
  it('are those of the release that was reviewed', () => {
    const installed = createRequire(import.meta.url).resolve('ioredis/package.json');

    expect(readManifest(installed).version).toBe(REVIEWED);
  });

  it('cannot change with an install: every package pins that release exactly', () => {
    const pins = globSync('{package.json,apps/*/package.json,packages/*/package.json}', { cwd: root }).flatMap(
      (path) => {
        const { dependencies = {}, devDependencies = {} } = readManifest(join(root, path));
        return [dependencies['ioredis'], devDependencies['ioredis']].filter((pin) => pin !== undefined);
      },
    );

    expect(new Set(pins)).toEqual(new Set([REVIEWED]));
  });

  it('are there: queues that can be looked into, timers of commands and of the socket, one door for commands', () => {
    const redis = new Redis({ lazyConnect: true });
    const { commandQueue, offlineQueue, setSocketTimeout } = redis as unknown as {
      readonly commandQueue: { readonly length: number; readonly peekAt: (index: number) => unknown };
      readonly offlineQueue: { readonly length: number; readonly peekAt: (index: number) => unknown };
      readonly setSocketTimeout: () => void;
    };
    const command = new Command('ping', []) as unknown as { readonly setTimeout: unknown; readonly isSettled: unknown };

    expect([commandQueue, offlineQueue].map((queue) => [queue.length, queue.peekAt(0)])).toEqual([
      [0, undefined],
      [0, undefined],
    ]);
    expect([typeof setSocketTimeout, typeof command.setTimeout]).toEqual(['function', 'function']);
    expect(command.isSettled).toBe(false);
    expect(typeof Reflect.get(SentinelConnector.prototype, 'connectToSentinel')).toBe('function');
    expect(typeof Object.getOwnPropertyDescriptor(Redis.prototype, 'sendCommand')?.value).toBe('function');
    redis.disconnect();
  });
});
