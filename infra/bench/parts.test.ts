import { describe, expect, it } from '@jest/globals';

import type { Figure } from './goals.ts';
import { measureParts, type Part } from './parts.ts';

const figure = (name: string): Figure => ({ name, value: 1, unit: 'ms', atMost: 2 });
const parts: Readonly<Record<string, Part>> = {
  sizes: { title: 'sizes', measure: () => [figure('size')] },
  tasks: {
    title: 'tasks of the main thread',
    async *measure() {
      yield figure('first task');
      throw new Error('the browser ended');
    },
  },
  live: {
    title: 'live',
    async *measure() {
      yield figure('frame');
    },
  },
};

async function measured(only?: string): Promise<{ readonly names: readonly string[]; readonly printed: string[] }> {
  const printed: string[] = [];
  const progress = { step: () => undefined, stop: () => undefined, print: (line: string) => void printed.push(line) };
  return { names: (await measureParts(parts, progress, only)).map(({ name }) => name), printed };
}

describe('a benchmark of several parts', () => {
  it('keeps the figures of the others if one fails, and those that it had, but not its goal', async () => {
    const { names, printed } = await measured();

    expect(names).toEqual(['size', 'first task', 'frame', 'parts that failed']);
    expect(printed).toEqual([
      '1 of 3: sizes',
      '2 of 3: tasks of the main thread',
      'failed: tasks: the browser ended',
      '3 of 3: live',
    ]);
  });

  it('measures one part, and refuses one that it has not', async () => {
    expect(await measured('live')).toEqual({ names: ['frame'], printed: ['1 of 1: live'] });
    await expect(measured('lives')).rejects.toThrow('unknown part "lives"; expected one of sizes, tasks, live');
  });
});
