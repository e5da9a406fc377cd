import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { makeTempFolder, removeOrphans, thisProcess } from './temp-folder.ts';

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'vantage-folders-'));
});

afterEach(() => rmSync(parent, { recursive: true }));

describe('the folder of a browser', () => {
  it('is for its user alone', async () => {
    const folder = await makeTempFolder(parent, thisProcess(), {});

    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is removed when its process is no more, or another one has its pid', async () => {
    const { pid, startTicks } = thisProcess();
    const mine = await makeTempFolder(parent, { pid, startTicks }, {});
    await makeTempFolder(parent, { pid, startTicks: '1' }, {});
    await makeTempFolder(parent, { pid: 4_194_305, startTicks: '1' }, {});
    mkdirSync(join(parent, 'of-somebody-else'));

    await removeOrphans(parent);

    expect(readdirSync(parent).toSorted()).toEqual(['of-somebody-else', mine.slice(parent.length + 1)]);
  });

  it('is not looked for where there is no parent', async () => {
    await expect(removeOrphans(join(parent, 'nowhere'))).resolves.toBeUndefined();
  });
});
