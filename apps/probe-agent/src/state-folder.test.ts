import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { mountSmallDisk } from '@vantage/test-support/programs/small-disk';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { watchFolder } from './state-folder.ts';

const isRoot = process.getuid?.() === 0;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Watches a folder and tests it at every call. The returned function waits until the reasons satisfy a condition. */
function watched(path: string): (isSo: (reasons: readonly string[]) => boolean) => Promise<readonly string[]> {
  let nowMs = 0;
  const watch = watchFolder(path, () => (nowMs += 5_000));
  return async (isSo) => {
    for (;;) {
      const reasons = watch();
      if (isSo(reasons)) return reasons;
      await sleep(10);
    }
  };
}

const has = (reasons: readonly string[]): boolean => reasons.length > 0;
const hasNone = (reasons: readonly string[]): boolean => reasons.length === 0;

describe('the watch over the state folder', () => {
  it('names the fault of a folder that is gone, until it is back', async () => {
    const path = join(folder, 'state');
    mkdirSync(path);
    const until = watched(path);
    await until(hasNone);

    renameSync(path, `${path}.away`);
    const reasons = await until(has);
    renameSync(`${path}.away`, path);

    expect(reasons).toEqual([
      'The state folder of the agent cannot be used (ENOENT): once its connection ends, it cannot connect again.',
    ]);
    expect(await until(hasNone)).toEqual([]);
  });

  (isRoot ? it : it.skip)('names a read-only file system, though the agent is root, and no full one', async () => {
    const disk = (await mountSmallDisk(folder, 1))!;
    const remount = (mode: 'ro' | 'rw') =>
      promisify(execFile)('nsenter', ['-m', '-t', `${disk.holderPid}`, 'mount', '-o', `remount,${mode}`, folder]);
    try {
      const until = watched(disk.path);
      await remount('ro');
      const reasons = await until(has);
      await remount('rw');
      disk.fill();

      expect(reasons).toEqual([expect.stringContaining('(EROFS)')]);
      expect(await until(hasNone)).toEqual([]);
    } finally {
      await disk.unmount();
    }
  });
});
