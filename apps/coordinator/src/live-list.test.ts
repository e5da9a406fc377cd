import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from '@jest/globals';

import { createLiveList } from './live-list.ts';

const BATCHES = 20;
const PER_BATCH = 100;
const ITEM_NUMBERS = 100;

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
}

describe('createLiveList', () => {
  it('contains what was added and not removed, in order', () => {
    const list = createLiveList<string>();
    const removals = ['a', 'b', 'c', 'd'].map((item) => list.add(item));

    removals[1]!();
    removals[3]!();
    list.add('e');
    removals[1]!();

    expect([...list]).toEqual(['a', 'c', 'e']);
    removals[0]!();
    removals[2]!();
    expect([...list]).toEqual(['e']);
  });

  it('lets an item be removed while it is iterated', () => {
    const list = createLiveList<() => void>();
    const called: string[] = [];
    const add = (name: string): void => {
      const remove = list.add(() => {
        called.push(name);
        remove();
      });
    };
    add('a');
    add('b');

    for (const call of list) call();

    expect([called, [...list]]).toEqual([['a', 'b'], []]);
  });

  it('lets collections of the young generation free what was removed', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void;
    const list = createLiveList<readonly number[]>();
    let removeLast = (): void => undefined;
    const use = (): void => {
      for (let index = 0; index < PER_BATCH; index += 1) {
        const remove = list.add(Array.from({ length: ITEM_NUMBERS }, () => Math.random()));
        // Removes an item only after the next one is added, so that the list is never empty.
        removeLast();
        removeLast = remove;
      }
      // An object is moved to the old generation by the second minor collection that it survives.
      gc({ type: 'minor' });
      gc({ type: 'minor' });
    };
    for (let batch = 0; batch < BATCHES; batch += 1) use();
    gc({ type: 'major' });
    const before = oldBytes();

    for (let batch = 0; batch < BATCHES; batch += 1) use();

    expect((oldBytes() - before) / (BATCHES * PER_BATCH)).toBeLessThan(ITEM_NUMBERS);
  });
});
