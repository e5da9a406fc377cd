import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { describe, expect, it } from '@jest/globals';

import { arrivalOf, isOverdue, OVERDUE_PER_TURN, PER_TURN, paceRequests } from './pace-requests.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A pace whose listener notes the name of each request, with `!` behind that of an overdue one. The part of a name
 * before a colon is the client.
 */
function startPace() {
  const passed: string[] = [];
  const arrivals = new Map<string, number>();
  const clock = { nowMs: 0 };
  const server = new EventEmitter();
  const listener = paceRequests(
    server as Server,
    (request) => {
      passed.push(`${request.url}${isOverdue(request) ? '!' : ''}`);
      arrivals.set(request.url!, arrivalOf(request));
    },
    { clientOf: ({ url }) => url!.split(':', 1)[0]!, nowMs: () => clock.nowMs },
  );
  const sockets = new Map<string, { destroyed: boolean }>();
  const send = (method: string, urls: readonly string[]): void => {
    for (const url of urls) {
      const socket = { destroyed: false };
      sockets.set(url, socket);
      listener({ method, url, socket } as unknown as IncomingMessage, {} as ServerResponse);
    }
  };
  return {
    passed,
    arrivals,
    clock,
    accepted: () => server.emit('connection'),
    sockets,
    ask: (...urls: readonly string[]): void => send('POST', urls),
    read: (...urls: readonly string[]): void => send('GET', urls),
  };
}

function names(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => `r${from + index}`);
}

describe('requests that arrive in one turn of the event loop', () => {
  it('are passed on at its end as long as they are few', async () => {
    const { ask, passed } = startPace();
    ask(...names(0, PER_TURN));
    await turn();
    expect(passed).toEqual(names(0, PER_TURN));
  });

  it('are passed on in order, a few in each turn', async () => {
    const { ask, passed, clock, arrivals } = startPace();
    ask(...names(0, 2 * PER_TURN + 1));
    await turn();
    expect(passed).toHaveLength(PER_TURN);
    clock.nowMs = 30;
    ask('later');
    await turn();
    expect(passed).toHaveLength(2 * PER_TURN);
    await turn();
    expect(passed).toEqual([...names(0, 2 * PER_TURN + 1), 'later']);
    expect(arrivals.get(`r${2 * PER_TURN}`)).toBe(0);
    expect(arrivals.get('later')).toBe(30);
  });

  it('give way to connections that are being accepted, but not without end', async () => {
    const { ask, accepted, passed } = startPace();
    for (let turns = 0; turns < 100; turns += 1) {
      accepted();
      ask(`r${turns}`);
      await turn();
    }
    expect(passed).toEqual([]);
    await turn();
    expect(passed).toHaveLength(PER_TURN);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(passed).toHaveLength(100);

    ask(...names(0, 8 * PER_TURN));
    const before = passed.length;
    for (let turns = 0; turns < 600; turns += 1) {
      accepted();
      await turn();
    }
    expect(passed.length - before).toBeGreaterThanOrEqual(2 * PER_TURN);
    expect(passed.length - before).toBeLessThan(4 * PER_TURN);
  });

  it('are dropped while they wait if their client has left', async () => {
    const { ask, passed, sockets } = startPace();
    ask(...names(0, PER_TURN + 2));
    await turn();
    sockets.get(`r${PER_TURN}`)!.destroyed = true;
    await turn();
    expect(passed.slice(PER_TURN)).toEqual([`r${PER_TURN + 1}`]);
  });
});

describe('a queue of POST requests', () => {
  /** Offers one request more in each turn than are passed on. */
  async function offerTooMany(pace: ReturnType<typeof startPace>, turns: number, turnMs: number): Promise<void> {
    pace.ask(...names(0, 2 * PER_TURN));
    for (let index = 0; index < turns; index += 1) {
      await turn();
      pace.clock.nowMs += turnMs;
      pace.ask(...names(0, PER_TURN + 1));
    }
  }

  it.each([
    ['a burst, however slow its turns are', 20, 500],
    ['a burst of many quick turns', 200, 4],
  ])('that is %s has no overdue requests', async (_of, turns, turnMs) => {
    const pace = startPace();
    await offerTooMany(pace, turns, turnMs);
    expect(pace.passed.filter((name) => name.endsWith('!'))).toEqual([]);
  });

  it('that does not become empty has overdue requests, so that the others do not wait long', async () => {
    const pace = startPace();
    await offerTooMany(pace, 400, 40);
    const late = pace.passed.filter((name) => name.endsWith('!'));
    expect(late.length).toBeGreaterThan(100);
    // The excess is an eighth of what is passed on.
    expect(late.length).toBeLessThan(pace.passed.length / 4);
    const before = pace.passed.length;
    pace.ask('newest');
    for (let turns = 0; turns < 5; turns += 1) {
      pace.clock.nowMs += 40;
      await turn();
    }
    expect(pace.passed.slice(before).map((name) => name.replace('!', ''))).toContain('newest');
  });

  it('that was empty once has no overdue requests at first', async () => {
    const pace = startPace();
    await offerTooMany(pace, 400, 40);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    const before = pace.passed.length;
    pace.clock.nowMs += 60_000;
    await offerTooMany(pace, 20, 40);
    expect(pace.passed.slice(before).filter((name) => name.endsWith('!'))).toEqual([]);
  });

  it('has no overdue requests if a burst takes seconds, but those that arrive later can be', async () => {
    const pace = startPace();
    pace.ask(...names(0, 50 * PER_TURN));
    for (let turns = 0; turns < 50; turns += 1) {
      pace.clock.nowMs += 80;
      await turn();
      if (turns === 40) pace.ask(...names(1000, 1000 + OVERDUE_PER_TURN));
    }
    const isLater = (name: string): boolean => name.startsWith('r10');
    expect(pace.passed.filter((name) => name.endsWith('!') && !isLater(name))).toEqual([]);
    expect(pace.passed.filter((name) => name.endsWith('!') && isLater(name))).toHaveLength(OVERDUE_PER_TURN);
  });

  it('that is large has few overdue requests in a turn, so that others begin', async () => {
    const pace = startPace();
    pace.ask(...names(0, 1_000));
    for (let turns = 0; turns < 40; turns += 1) await turn();
    pace.clock.nowMs += 60_000;
    pace.ask(...names(2_000, 2_000 + PER_TURN));
    const before = pace.passed.length;
    await turn();
    const begun = names(2_000, 2_000 + PER_TURN);
    expect(pace.passed.slice(before + OVERDUE_PER_TURN)).toEqual(begun);
    expect(pace.passed.slice(before, before + OVERDUE_PER_TURN).every((name) => name.endsWith('!'))).toBe(true);
  });

  it('delays no other requests, which are never overdue', async () => {
    const pace = startPace();
    pace.ask(...names(0, 1_000));
    for (let turns = 0; turns < 40; turns += 1) await turn();
    pace.clock.nowMs += 60_000;
    pace.read(...names(3_000, 3_000 + PER_TURN));
    const before = pace.passed.length;
    for (let turns = 0; turns < 2; turns += 1) await turn();
    expect(pace.passed.slice(before)).toEqual(expect.arrayContaining([...names(3_000, 3_000 + PER_TURN)]));
  });
});

it('begins few reads in a turn, however long they have waited', async () => {
  const pace = startPace();
  pace.read(...names(0, 1_000));
  for (let turns = 0; turns < 40; turns += 1) await turn();
  pace.clock.nowMs += 60_000;
  const before = pace.passed.length;
  await turn();
  expect(pace.passed.slice(before)).toEqual(names(before, before + PER_TURN));
});

describe('a flood of one client', () => {
  it.each(['ask', 'read'] as const)('delays no others (%s)', async (method) => {
    const pace = startPace();
    const flood = Array.from({ length: 1_000 }, (_, index) => `flood:${index}`);
    pace[method](...flood);
    for (let turns = 0; turns < 40; turns += 1) await turn();
    const before = pace.passed.length;
    pace[method]('a:0', 'b:0', 'b:1');
    for (let turns = 0; turns < 2; turns += 1) await turn();
    expect(pace.passed.slice(before)).toEqual(expect.arrayContaining(['a:0', 'b:0', 'b:1']));
  });

  it('has none of their requests refused', async () => {
    const pace = startPace();
    const sent: string[] = [];
    for (let turns = 0; turns < 400; turns += 1) {
      pace.ask(...Array.from({ length: 4 * PER_TURN }, (_, index) => `flood:${turns}/${index}`));
      sent.push(`small:${turns}`);
      pace.ask(`small:${turns}`);
      pace.clock.nowMs += 40;
      await turn();
    }
    expect(pace.passed.filter((name) => name.startsWith('small'))).toEqual(sent);
    expect(pace.passed.filter((name) => name.endsWith('!')).length).toBeGreaterThan(1_000);
  });
});

it('begins requests of load balancers first, however many clients flood', async () => {
  const pace = startPace();
  pace.read(...Array.from({ length: 1_000 }, (_, index) => `c${index}:/me`));
  pace.ask(...Array.from({ length: 1_000 }, (_, index) => `c${index}:/check`));
  await turn();
  const before = pace.passed.length;
  pace.read('lb:/healthz', 'lb:/prefix/readyz?verbose');
  await turn();
  expect(pace.passed.slice(before, before + 2)).toEqual(['lb:/healthz', 'lb:/prefix/readyz?verbose']);
});
