import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { createHint, type Hint } from './hint.ts';
import { eventually } from '../test/eventually.ts';

let hint: Hint;

afterEach(() => hint.close());

function counted(isDense: boolean): () => number {
  let given = 0;
  hint = createHint(
    () => (given += 1),
    () => isDense,
  );
  return () => given;
}

describe('the hint that there are results', () => {
  it('is given at once, and once for all that follow closely', async () => {
    const given = counted(false);

    for (let raised = 0; raised < 10; raised += 1) hint.raise();
    expect(given()).toBe(1);
    await eventually(() => (given() === 2 ? true : undefined));
    await sleep(50);

    expect(given()).toBe(2);
  });

  it('is given at once again after a while', async () => {
    const given = counted(false);
    hint.raise();
    await sleep(50);

    hint.raise();

    expect(given()).toBe(2);
  });

  it('waits for those that follow at a dense pace, and is given once for all of them', async () => {
    const given = counted(true);

    for (let raised = 0; raised < 10; raised += 1) hint.raise();
    expect(given()).toBe(0);
    await eventually(() => (given() === 1 ? true : undefined));
    await sleep(50);

    expect(given()).toBe(1);
  });

  it('is given early at the end, and not twice', async () => {
    const given = counted(true);
    hint.raise();

    hint.flush();
    expect(given()).toBe(1);
    hint.flush();
    await sleep(50);

    expect(given()).toBe(1);
  });
});
