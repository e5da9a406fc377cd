import { describe, expect, it } from '@jest/globals';

import { FairQueue } from './fair-queue.ts';

interface Item {
  readonly name: string;
  client?: string;
  left?: true;
}

/** A queue of items whose client is the first letter of their name. */
function startQueue() {
  const asked: string[] = [];
  const queue = new FairQueue<Item>({
    clientOf: ({ name }) => {
      asked.push(name);
      return name[0]!;
    },
    hasLeft: ({ left }) => left === true,
  });
  return {
    queue,
    asked,
    add: (...names: readonly string[]): void => names.forEach((name) => queue.add({ name })),
    take: (most: number): readonly string[] => queue.take(most).map(({ name }) => name),
  };
}

function of(client: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${client}${index}`);
}

describe('a fair queue', () => {
  it('is in order of arrival, and asks for no client, as long as all can be taken', () => {
    const { add, take, asked } = startQueue();
    add('a0', 'a1', 'b0');
    expect(take(3)).toEqual(['a0', 'a1', 'b0']);
    expect(asked).toEqual([]);
  });

  it('takes from each client in turn, and of each the oldest', () => {
    const { add, take } = startQueue();
    add(...of('a', 5), ...of('b', 3), 'c0');
    expect([take(4), take(4), take(4)]).toEqual([['a0', 'b0', 'c0', 'a1'], ['b1', 'a2', 'b2', 'a3'], ['a4']]);
  });

  it('lets a client that comes later neither wait for what others have got, nor make up for it', () => {
    const { add, take } = startQueue();
    add(...of('a', 100));
    for (let turns = 0; turns < 10; turns += 1) take(4);
    add(...of('b', 100));
    const names = [take(4), take(4), take(4), take(4)].flat();
    const ofB = names.filter((name) => name.startsWith('b'));
    expect(ofB.slice(0, 2)).toEqual(['b0', 'b1']);
    expect(ofB.length).toBeGreaterThanOrEqual(7);
    expect(ofB.length).toBeLessThanOrEqual(12);
  });

  it('shares equally between more clients than are taken at once, however much each adds', () => {
    const { add, take } = startQueue();
    const clients = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const counts = new Map(clients.map((client) => [client, 0]));
    for (let turns = 0; turns < 100; turns += 1) {
      for (const [index, client] of clients.entries()) add(...of(client, index + 1));
      for (const [client = ''] of take(4)) counts.set(client, counts.get(client)! + 1);
    }
    expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(2);
  });

  it('drops items whose client has left', () => {
    const { queue, take } = startQueue();
    const items: Item[] = of('a', 4).map((name) => ({ name }));
    for (const item of items) queue.add(item);
    items[0]!.left = true;
    items[3]!.left = true;
    expect(take(1)).toEqual(['a1']);
    expect(queue.length).toBe(1);
    expect(queue.takeOldest(5, () => true).map(({ name }) => name)).toEqual(['a2']);
  });
});
