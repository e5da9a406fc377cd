import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { rotateLogs } from './bounded-logs.ts';

describe('the logs of a service that runs for long', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'vantage-logs-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

  it('start again above their size during writes, and keep the last part', async () => {
    const log = openSync(join(folder, 'a.log'), 'a');
    const stop = rotateLogs(folder, 10, 5);

    writeSync(log, 'more than ten bytes\n');
    while (!readdirSync(folder).includes('a.log.1') || read('a.log') !== '') await sleep(5);
    writeSync(log, 'next\n');
    stop();

    expect(read('a.log')).toBe('next\n');
    expect(read('a.log.1')).toBe('more than ten bytes\n');
    closeSync(log);
  });

  it('are looked at at the start, and what is small enough or no log is left alone', () => {
    writeFileSync(join(folder, 'large.log'), 'x'.repeat(11));
    writeFileSync(join(folder, 'small.log'), 'x'.repeat(10));
    writeFileSync(join(folder, 'other.json'), 'x'.repeat(11));

    rotateLogs(folder, 10)();

    expect(readdirSync(folder).toSorted()).toEqual(['large.log', 'large.log.1', 'other.json', 'small.log']);
    expect(read('large.log')).toBe('');
    expect(read('other.json')).toHaveLength(11);
  });

  it('end nothing when their folder is gone', () => {
    expect(() => rotateLogs(join(folder, 'gone'))()).not.toThrow();
  });
});
