import type { Barred, Refusals } from './refusals.ts';
import { answersIn, isRefusal, type Slot, type Slots } from './slots.ts';

/** Number of refused packets of a slot, or of a flow, from which a router is taken to refuse all. */
const TRIES = 3;
/**
 * Number of refusals from which a router is taken to forward nothing: one that refuses nine in ten packets would do so
 * in one of five cases.
 */
const REFUSALS = 16;

/**
 * Packets to the hop before that of a refused packet. If a per-packet balancer chooses between two routers there, all
 * six would show the same one in 1 of 32 cases.
 */
const PACKETS_TO_PLACE = 6;

/**
 * True for a flow that is not probed beyond a TTL, because a router before it refuses this flow and forwards others.
 */
export function isBarred(barred: Barred | undefined, ttl: number): barred is Barred {
  return barred !== undefined && barred.tried >= TRIES && barred.hop < ttl;
}

/**
 * True for a slot whose packets were refused before its hop, but too few to tell whether the flow's other packets are
 * refused too.
 */
export function isUntried({ packets }: Slot, barred: Barred | undefined): boolean {
  return packets.length < TRIES && !(barred !== undefined && barred.tried >= TRIES);
}

/**
 * Slots to be probed to find the hop of a router that refused packets: a per-packet balancer may have chosen it for
 * these packets alone.
 */
export function unplacedAsks(unplaced: Refusals['unplaced'], slots: Slots): Refusals['unplaced'] {
  return unplaced.flatMap((one) => {
    const sent = slots.get(one.flow)?.get(one.ttl)?.packets.length ?? 0;
    return Array.from({ length: Math.max(0, PACKETS_TO_PLACE - sent) }, () => one);
  });
}

/** Slots at routers that have refused all packets so far, to be probed again: they may forward some. */
export function doubtedRefusals(slots: Slots): readonly Slot[] {
  const all = [...slots.values()].flatMap((own) => [...own.values()]);
  const refused = all.flatMap((slot) =>
    answersIn(slot)
      .filter(isRefusal)
      .map((seen) => ({ seen, slot })),
  );
  return [...Map.groupBy(refused, ({ seen }) => seen).values()].flatMap((own) => {
    const open = [...new Set(own.map(({ slot }) => slot))].filter(({ packets }) => packets.length < TRIES);
    return open.slice(0, Math.max(0, REFUSALS - own.length));
  });
}
