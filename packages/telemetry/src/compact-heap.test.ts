import { describe, expect, it } from '@jest/globals';

import { compactHeap } from './compact-heap.ts';

describe('the compaction of the heap', () => {
  it('frees what the start needed, in a process without flags', async () => {
    let table: object | undefined = { names: Array.from({ length: 100_000 }, (_, index) => `name ${index}`) };
    const kept = new WeakRef(table);
    table = undefined;
    // A weak reference keeps its object until the end of the turn.
    await new Promise((resolve) => setImmediate(resolve));

    compactHeap();

    expect(process.execArgv).not.toContain('--expose-gc');
    expect(kept.deref()).toBeUndefined();
  });
});
