import { describe, expect, it } from '@jest/globals';

import type { TraceAnswer, TracePacket } from '../trace.ts';
import { nearerByWayBack } from './way-back.ts';

const ROUTERS = 5;

function packet(ttl: number, kind: TraceAnswer['kind'] | undefined, hopLimit: number): TracePacket {
  const answer =
    kind === undefined
      ? null
      : { from: '', receivedMs: 1, clock: 'kernel' as const, hopLimit, kind, error: null, rewritten: [] };
  return { flow: 0, index: 0, ttl, awaitedMs: 0, sentMs: 0, answer, isGivenUp: answer === null };
}

/**
 * Routers, silent hops with three packets each, and answers of a target at the sixth hop: `!` for an answer, `.` for
 * none.
 */
function hopWith(
  silent: number,
  answers: string,
  hopLimit = 59,
  routersBack = Array.from({ length: ROUTERS }, (_, index) => 255 - index),
): number | null {
  const end = ROUTERS + silent + 1;
  const routers = routersBack.map((left, index) => packet(ROUTERS - routersBack.length + index + 1, 'expired', left));
  const lost = Array.from({ length: 3 * silent }, (_, index) => packet(ROUTERS + 1 + (index % silent), undefined, 0));
  const target = Array.from(answers, (mark) => packet(end, mark === '!' ? 'target' : undefined, hopLimit));
  const own = [...routers, ...lost, ...target];
  return nearerByWayBack(own, end, ROUTERS, own);
}

describe('the hop of a target by the TTL of its replies', () => {
  it.each([
    ['chance explains the silence in front of it', 3, '!.!', 59, 6],
    ['a target that leaves packets unanswered has too many silent hops in front of it', 19, '!!!!.', 59, 6],
    ['the replies come from the hop that it answered', 3, '!.!', 56, null],
    ['the replies take a way of other length', 3, '!.!', 40, null],
    ['it answers nearly all packets beyond few silent hops', 3, '!!!!!.', 59, null],
    ['it answers all packets beyond many', 19, '!!!', 59, null],
  ])('is known or not: %s', (_reason, silent, answers, hopLimit, expected) => {
    expect(hopWith(silent, answers, hopLimit)).toBe(expected);
  });

  it.each([
    ['a router that answers over a detour', [255, 254, 253, 252, 249], 59, null],
    ['the same detour of all', [253, 252, 251, 250, 249], 57, 6],
    ['a router with another first TTL', [255, 254, 253, 252, 60], 59, 6],
    ['routers of another one', [64, 63, 62, 61, 60], 59, 6],
    ['a single router over as many hops', [251], 59, 6],
    ['a single router over more hops', [249], 59, null],
    ['no router', [], 59, null],
  ])('is compared with those of the last routers: %s', (_case, routersBack, hopLimit, expected) => {
    expect(hopWith(5, '!.!..', hopLimit, routersBack)).toBe(expected);
  });
});
