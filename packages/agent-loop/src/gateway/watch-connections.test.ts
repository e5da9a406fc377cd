import { expect, it } from '@jest/globals';

import { createLosses } from '../losses.ts';
import type { Session } from './session.ts';
import { watchConnections } from './watch-connections.ts';

const LOST = { code: 1_006, reason: '' };
const REFUSED = { code: 1_013, reason: '' };

const newSession = (): Session => ({}) as Session;

/** An agent that is connected first, and whose connections then break off each half minute. */
function createBed() {
  let nowMs = 0;
  let current: Session | undefined;
  const losses = createLosses('the gateways', () => nowMs);
  const nothing = (): void => undefined;
  const watch = watchConnections({ losses, withdraw: nothing, session: () => current, onEnded: nothing });
  const bed = {
    waits: (seconds: number) => void (nowMs += seconds * 1_000),
    connects: () => {
      const before = current;
      current = newSession();
      watch.welcomed(current, { t: 'welcome', v: 1, state: 'approved' });
      return before;
    },
    loses: () => {
      const ended = current!;
      current = undefined;
      watch.ended(ended, LOST);
    },
    ended: (session: Session, end: typeof LOST) => watch.ended(session, end),
    isUnstable: () => watch.instability() !== undefined,
  };
  bed.connects();
  return bed;
}

it.each<[string, (typeof LOST)[]]>([
  ['at once', []],
  ['after an attempt without an answer', [LOST]],
  ['after attempts that gateways refused', [REFUSED, REFUSED]],
])('an interruption lasts until the agent is connected again: %s', (_case, attempts) => {
  const bed = createBed();
  const states = Array.from({ length: 4 }, () => {
    bed.waits(27);
    bed.loses();
    for (const end of attempts) bed.ended(newSession(), end);
    bed.waits(4);
    bed.connects();
    return bed.isUnstable();
  });

  expect(states).toEqual([false, false, false, true]);
});

it('a connection that breaks off after another one has taken its place costs no time', () => {
  const bed = createBed();
  for (let times = 0; times < 4; times += 1) {
    bed.waits(31);
    bed.ended(bed.connects()!, LOST);
  }
  bed.waits(20);

  expect(bed.isUnstable()).toBe(false);
});
