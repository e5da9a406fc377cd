import type { TracePacket } from '../probing/trace.ts';
import type { Slot } from './slots/slots.ts';

/** Number of unanswered packets of a slot (a flow at a TTL) after which a silent router is suspected there. */
const TRIES = 3;
/**
 * Number of further unanswered packets that prove a silent router, each followed by an answered packet to the control.
 */
const PROOFS = 3;
/** Maximum number of packets to a slot; without a proof its silence says nothing. */
const MOST_TRIES = 8;
/** Once this many suspected slots at one vertex were answered after all, its silence proves nothing. */
const MOST_WRONG = 2;
/** Time within which a packet to the control must follow, milliseconds. */
const CONTROL_MS = 500;
/** Number of suspected slots that are probed at once: so few that their control packets are sent in the same burst. */
const TESTS = 8;

/** A suspected slot to be probed again, and an answered one as its control. */
export interface SilenceTest {
  readonly suspected: Slot;
  readonly control: Slot;
}

export interface Doubts {
  /** Silent slots whose silence is not proved: they show no router. */
  readonly doubtful: ReadonlySet<Slot>;
  /** Silent slots to be probed again. */
  readonly fresh: readonly Slot[];
  readonly tests: readonly SilenceTest[];
}

const NONE: Doubts = { doubtful: new Set(), fresh: [], tests: [] };

/**
 * Doubts about silence after a vertex, if other packets after it were answered, or some at the same hop after other
 * vertices: packets may be lost, or the routers rate-limit their answers. One slot at a time is probed together with a
 * control: loss affects both alike, and a rate limit does not explain that a quiet packet was lost. One proof suffices
 * for all suspected slots.
 *
 * @param after answered slots after the vertex at other hops
 * @param elsewhere answered slots of the same hop after other vertices
 */
export function doubtsOf(
  slots: readonly Slot[],
  isSilent: (slot: Slot) => boolean,
  after: readonly Slot[],
  elsewhere: readonly Slot[],
  quiet: ReadonlySet<TracePacket>,
): Doubts {
  const silent = slots.filter(isSilent);
  const own = [...slots.filter((slot) => !silent.includes(slot)), ...after];
  const answered = own.length > 0 ? own : elsewhere;
  if (silent.length === 0 || answered.length === 0) return NONE;
  const control = answered.find(({ packets }) => packets.at(-1)?.answer !== null) ?? answered[0]!;
  const controls = answered.flatMap(({ packets }) => packets.filter(({ answer }) => answer !== null));
  const suspected = silent.filter(({ packets }) => packets.length >= TRIES);
  const others = silent.filter((slot) => !suspected.includes(slot));
  // If nothing behind the vertex was answered, three of its slots suffice.
  const fresh = own.length > 0 ? others : others.slice(0, Math.max(0, TRIES - suspected.length));
  if (suspected.some((slot) => proofsOf(slot, controls, quiet) >= PROOFS)) {
    return suspected.length >= TRIES ? NONE : { doubtful: new Set(others), fresh, tests: [] };
  }
  const wrong = answered.filter((slot) => isWrong(slot)).length;
  const open = suspected.filter(({ packets }) => packets.length < MOST_TRIES);
  const [next] = wrong >= MOST_WRONG ? [] : open.toSorted((a, b) => b.packets.length - a.packets.length);
  return { doubtful: new Set(silent), fresh, tests: next === undefined ? [] : [{ suspected: next, control }] };
}

/**
 * `doubtsOf` for slots behind a per-packet balancer. There nothing distinguishes a silent router from loss: repeated
 * packets of a slot are answered by other routers in the end.
 */
export function doubtsByPacket(slots: readonly Slot[], isSilent: (slot: Slot) => boolean): Doubts {
  const silent = slots.filter(isSilent);
  if (silent.length === slots.length) return NONE;
  return { doubtful: new Set(silent), fresh: silent.filter(({ packets }) => packets.length < TRIES), tests: [] };
}

/** The slots to be probed for tests: first the suspected ones, then their controls. */
export function slotsOfTests(tests: readonly SilenceTest[]): readonly Slot[] {
  const now = tests.slice(0, TESTS);
  return [...now.map(({ suspected }) => suspected), ...new Set(now.map(({ control }) => control))];
}

/** True for a slot that was suspected and then answered. */
function isWrong({ packets }: Slot): boolean {
  return packets.slice(0, TRIES).every(({ answer }) => answer === null);
}

function proofsOf({ packets }: Slot, controls: readonly TracePacket[], quiet: ReadonlySet<TracePacket>): number {
  const isFollowed = ({ awaitedMs }: TracePacket): boolean =>
    controls.some((one) => one.awaitedMs >= awaitedMs && one.awaitedMs - awaitedMs < CONTROL_MS);
  return packets.slice(TRIES).filter((one) => quiet.has(one) && isFollowed(one)).length;
}
