import { answersIn } from '../slots/slots.ts';
import type { Ask, Survey } from '../survey.ts';
import type { Vertex } from '../vertex.ts';

/** Number of flows that are followed per loop. */
const FLOWS = 3;
/** Proof of a loop (`findLoop`): rounds through several routers that all answer, or answers of a single router. */
const [ROUNDS, ANSWERS_OF_ONE] = [2, 5];
/** Maximum number of packets to a silent hop of a loop. */
const TRIES = 3;

interface Circle {
  readonly flow: number;
  readonly hops: readonly number[];
  readonly key: string;
}

/**
 * Packets that prove a loop: flows that reached a router for the second time are followed for as many rounds as the
 * proof takes.
 */
export function circleAsks(survey: Survey, maxHops: number): readonly Ask[] {
  const circles = [...survey.slots.keys()].flatMap((flow) => circleOf(flow, survey, maxHops) ?? []);
  return [...Map.groupBy(circles, ({ key }) => key).values()].flatMap((own) =>
    own
      .slice(0, FLOWS)
      .flatMap(({ flow, hops }) => hops.filter((ttl) => isWanted(flow, ttl, survey)).map((ttl) => ({ flow, ttl }))),
  );
}

function isWanted(flow: number, ttl: number, { slots }: Survey): boolean {
  const slot = slots.get(flow)?.get(ttl);
  return slot === undefined || (answersIn(slot).length === 0 && slot.packets.length < TRIES);
}

/**
 * The first return of a flow to a router, unless a later answer shows that it leaves the loop, or `maxHops` leaves too
 * few TTLs for the proof.
 */
function circleOf(flow: number, { at, slots, lastTtl, hasEnded }: Survey, maxHops: number): Circle | undefined {
  const seen = new Map<Vertex, number>();
  for (let ttl = 1; ttl <= lastTtl && !hasEnded(flow, ttl); ttl += 1) {
    const vertex = at(flow, ttl);
    if (vertex?.kind !== 'router') continue;
    const start = seen.get(vertex);
    if (start === undefined) {
      seen.set(vertex, ttl);
      continue;
    }
    // Only a probed position counts as a return. The first passage may be assumed: it is probed with the other hops.
    if (slots.get(flow)?.has(ttl) !== true) continue;
    const length = ttl - start;
    const count = length === 1 ? ANSWERS_OF_ONE : ROUNDS * length;
    const hops = Array.from({ length: count }, (_, index) => start + index).filter((hop) => hop <= maxHops);
    const expected = (hop: number): Vertex | undefined => at(flow, start + ((hop - start) % length));
    const isRound = hops.every(
      (hop) => [undefined, expected(hop)].includes(at(flow, hop)) || expected(hop) === undefined,
    );
    if (!isRound || hops.length < count) return undefined;
    const keys = hops.slice(0, length).map((hop) => at(flow, hop)?.key ?? '');
    return { flow, hops, key: keys.toSorted().join(' ') };
  }
  return undefined;
}
