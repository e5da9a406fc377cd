import { describe, expect, it } from '@jest/globals';

import { createTaskQueue, type TaskQueueOptions } from './task-queue.ts';

/** A queue whose tasks end when the test says so. */
function startQueue(bounds: Partial<TaskQueueOptions<string>> = {}): {
  readonly queue: ReturnType<typeof createTaskQueue<string>>;
  readonly begun: string[];
  readonly end: (task: string) => Promise<void>;
} {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (task: string): Promise<void> => {
    begun.push(task);
    return new Promise((resolve) => ends.set(task, resolve));
  };
  const queue = createTaskQueue<string>({ run, mostOfReceiver: 2, most: 3, mostWaiting: 3, ...bounds });
  const end = async (task: string): Promise<void> => {
    ends.get(task)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, end };
}

describe('tasks', () => {
  it('wait for those of the same receiver only', async () => {
    const { queue, begun, end } = startQueue();
    for (const task of ['a1', 'a2', 'a3', 'b1']) queue.add(task[0]!, task);

    expect(begun).toEqual(['a1', 'a2', 'b1']);
    expect(queue.waiting()).toEqual(['a3']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('begin in turns of the receivers if there are too many', async () => {
    const { queue, begun, end } = startQueue({ most: 1, mostWaiting: 9 });
    for (const task of ['a1', 'a2', 'a3', 'b1', 'c1']) queue.add(task[0]!, task);
    for (const task of ['a1', 'a2', 'b1', 'c1']) await end(task);

    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
  });

  it('are not kept without end for a receiver that does not answer', () => {
    const { queue, begun } = startQueue();
    const kept = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1'].map((task) => queue.add(task[0]!, task));

    expect(kept).toEqual([true, true, true, true, true, false, true]);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
  });

  it('do not begin after the stop, which waits for those that have begun', async () => {
    const { queue, begun, end } = startQueue();
    for (const task of ['a1', 'a2', 'a3']) queue.add(task[0]!, task);
    let isStopped = false;
    const stop = queue.stop().then(() => (isStopped = true));
    await end('a1');

    expect([begun, isStopped]).toEqual([['a1', 'a2'], false]);
    await end('a2');
    await stop;
    expect(begun).toEqual(['a1', 'a2']);
  });
});
