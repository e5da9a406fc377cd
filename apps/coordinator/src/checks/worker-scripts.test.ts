import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { workerScripts } from './worker-scripts.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(async () => bed.stop());

async function areLoaded(): Promise<boolean> {
  const known = (await bed.redis.script('EXISTS', ...workerScripts.map(({ sha }) => sha))) as readonly number[];
  return known.every((one) => one === 1);
}

describe('the scripts that agents run and may not bring', () => {
  it('are loaded when a coordinator connects', async () => {
    await until(areLoaded);

    expect(workerScripts).toHaveLength(2);
  });

  it('are loaded again on a server that lost them', async () => {
    await until(areLoaded);
    await bed.redis.script('FLUSH');

    await until(areLoaded);

    expect(await areLoaded()).toBe(true);
  });
});
