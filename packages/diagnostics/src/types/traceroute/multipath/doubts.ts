import type { TracePacket } from '../probing/trace.ts';
import type { Slot } from './slots/slots.ts';

/** Packets of a slot without an answer, after which it is suspected to be that of a silent router. */
const TRIES = 3;
/** Further packets that prove it, each followed by one to an answered slot that was answered. */
const PROOFS = 3;
/** Most packets to a slot; without a proof its silence says nothing. */
const MOST_TRIES = 8;
/** Number of suspected slots at one vertex that were answered after all, from which on its silence proves nothing. */
const MOST_WRONG = 2;
/** Time within which a packet to the control must follow, milliseconds. */
const CONTROL_MS = 500;

export interface Doubts {
  /** Silent slots whose silence is not proved: they show no router. */
  readonly doubtful: ReadonlySet<Slot>;
  /** Slots to be probed again, in this order: silent ones, and an answered one as a control. */
  readonly again: readonly Slot[];
}

/**
 * Slots behind a per-packet balancer that were silent `TRIES` times, from which on one silent packet suffices for every
 * other slot.
 */
const ENOUGH_SILENT = 3;

const NONE: Doubts = { doubtful: new Set(), again: [] };

/**
 * Doubts about silence after a vertex, if other packets after it were answered, or some after other vertices at the
 * same hop were lost: packets may be lost, or the routers limit their answers. One slot at a time is probed together
 * with a control: a router that limits its answers answers the first of two packets, and loss affects both alike. One
 * proof suffices for all suspected slots.
 *
 * @param after answered slots after the vertex at other hops
 * @param elsewhere answered slots of the same hop after other vertices
 */
export function doubtsOf(
  slots: readonly Slot[],
  isSilent: (slot: Slot) => boolean,
  after: readonly Slot[],
  elsewhere: readonly Slot[],
): Doubts {
  const silent = slots.filter(isSilent);
  const own = [...slots.filter((slot) => !silent.includes(slot)), ...after];
  const answered = own.length > 0 || !elsewhere.some(hasLost) ? own : elsewhere;
  if (silent.length === 0 || answered.length === 0) return NONE;
  const control = answered.find(({ packets }) => packets.at(-1)?.answer !== null) ?? answered[0]!;
  const controls = answered.flatMap(({ packets }) => packets.filter(({ answer }) => answer !== null));
  const suspected = silent.filter(({ packets }) => packets.length >= TRIES);
  const fresh = silent.filter((slot) => !suspected.includes(slot));
  if (suspected.some((slot) => proofsOf(slot, controls) >= PROOFS)) {
    return suspected.length >= TRIES ? NONE : { doubtful: new Set(fresh), again: fresh };
  }
  const wrong = answered.filter((slot) => isWrong(slot)).length;
  const open = suspected.filter(({ packets }) => packets.length < MOST_TRIES);
  const [next] = wrong >= MOST_WRONG ? [] : open.toSorted((a, b) => b.packets.length - a.packets.length);
  return { doubtful: new Set(silent), again: [...fresh, ...(next === undefined ? [] : [next, control])] };
}

function hasLost({ packets }: Slot): boolean {
  return packets.some(({ answer }) => answer === null);
}

/**
 * The same behind a per-packet balancer, where a slot that meets a silent router is answered in the end, too: `TRIES`
 * lost packets in a row show that there may be one.
 */
export function doubtsByPacket(slots: readonly Slot[], isSilent: (slot: Slot) => boolean): Doubts {
  const silent = slots.filter(isSilent);
  const fresh = silent.filter(({ packets }) => packets.length < TRIES);
  if (silent.length === slots.length || silent.length - fresh.length >= ENOUGH_SILENT) return NONE;
  return { doubtful: new Set(fresh), again: fresh };
}

/** True for a slot that was suspected and then answered. */
function isWrong({ packets }: Slot): boolean {
  return packets.slice(0, TRIES).every(({ answer }) => answer === null);
}

function proofsOf({ packets }: Slot, controls: readonly TracePacket[]): number {
  const isFollowed = ({ awaitedMs }: TracePacket): boolean =>
    controls.some((one) => one.awaitedMs >= awaitedMs && one.awaitedMs - awaitedMs < CONTROL_MS);
  return packets.slice(TRIES).filter(isFollowed).length;
}
