import type { Slot } from './slots.ts';

/** Packets of a slot without an answer, after which its silence is no random loss. */
const TRIES = 3;
/**
 * Number of slots after one vertex that were silent `TRIES` times, from which on one silent packet suffices for every
 * other slot.
 */
const ENOUGH_SILENT = 3;

/** Silent slots after one vertex to be probed again, because others after it were answered. */
export function doubtfulIn(slots: readonly Slot[], isSilent: (slot: Slot) => boolean): readonly Slot[] {
  if (slots.every(isSilent)) return [];
  const silent = slots.filter(isSilent);
  const proved = silent.filter(({ packets }) => packets.length >= TRIES);
  return proved.length >= ENOUGH_SILENT ? [] : silent.filter((slot) => !proved.includes(slot));
}
