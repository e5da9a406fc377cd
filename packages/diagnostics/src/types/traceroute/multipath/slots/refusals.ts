import { isFull, type TracePacket } from '../../probing/trace.ts';

/** A packet that was sent, and the router before its hop that refused it, if any. */
export interface HopPacket extends TracePacket {
  /** True if a router before the hop refused the packet, or may have: then the packet says nothing about the hop. */
  readonly isRefused?: true;
  /** The router that refused it; `hop` is set if the router was seen at the hop before this one, and at no other. */
  readonly refusedBy?: { readonly address: string; readonly hop?: number };
}

export interface Refusals {
  readonly packets: readonly HopPacket[];
  /** Flows whose packets a router refused without forwarding any, while it forwards those of other flows. */
  readonly barred: ReadonlyMap<number, Barred>;
  /**
   * For each router that refuses some packets, forwards others and was seen at no hop: the slot one hop before the
   * lowest TTL that it refused, where the router may be.
   */
  readonly unplaced: readonly { readonly flow: number; readonly ttl: number }[];
}

export interface Barred {
  /** Address of the router. */
  readonly by: string;
  /** The hop of the router, as `hopIn` estimates it. */
  readonly hop: number;
  /** Packets of the flow that it did not forward. */
  readonly tried: number;
}

/** A router that refused packets. */
interface Refuser {
  readonly address: string;
  /** The lowest TTL that expired at this router, by flow. */
  readonly hops: Map<number, number>;
  /** TTLs that expired at this router. */
  readonly expiredAt: Set<number>;
  /** The lowest TTL that it refused, by flow. */
  readonly refusedAt: Map<number, number>;
  /** Flows of which it forwarded a packet. */
  readonly passed: Set<number>;
}

/**
 * The packets, without the errors of routers that refuse some packets and forward others: such an error is no answer of
 * the hop at which the packet’s TTL would have expired. At a hop where other packets expire at the router, its error
 * counts as expired too. Other errors of a router that is not known to forward any packet stay: it ends the paths.
 */
export function refusalsIn(packets: readonly TracePacket[]): Refusals {
  const refusers = refusersIn(packets);
  if (refusers.size === 0) return { packets, barred: new Map(), unplaced: [] };
  const passing = [...refusers.values()].filter(({ passed }) => passed.size > 0);
  const barredBy = new Map(
    passing.flatMap((one) => [...one.refusedAt.keys()].flatMap((flow) => (one.passed.has(flow) ? [] : [[flow, one]]))),
  );
  const counted = packets.map((packet): HopPacket => {
    const { answer, flow, ttl } = packet;
    if (isFull(packet)) return packet;
    const refuser = barredBy.get(flow);
    if (answer === null) {
      const isBarred = packet.isGivenUp && refuser !== undefined && ttl > hopIn(refuser, flow);
      return isBarred ? { ...packet, isRefused: true } : packet;
    }
    const kind = answer.kind === 'refused' ? placeOf(refusers.get(answer.from)!, flow, ttl) : 'end';
    if (kind === 'end') return packet;
    if (kind === 'here') return { ...packet, answer: { ...answer, kind: 'expired' } };
    const [hop, ...others] = refusers.get(answer.from)!.expiredAt;
    const isBefore = hop === ttl - 1 && others.length === 0;
    const refusedBy = { address: answer.from, ...(isBefore && { hop }) };
    return { ...packet, answer: null, isGivenUp: true, isRefused: true, refusedBy };
  });
  const barred = [...barredBy].map(([flow, one]) => {
    const tried = counted.filter((packet) => packet.flow === flow && packet.isRefused === true).length;
    return [flow, { by: one.address, hop: hopIn(one, flow), tried }] as const;
  });
  return { packets: counted, barred: new Map(barred), unplaced: passing.flatMap(beforeRefusal) };
}

function beforeRefusal({ expiredAt, refusedAt }: Refuser): Refusals['unplaced'] {
  const [first] = [...refusedAt].toSorted(([, a], [, b]) => a - b);
  if (expiredAt.size > 0 || first === undefined || first[1] <= 1) return [];
  return [{ flow: first[0], ttl: first[1] - 1 }];
}

/** Where an error came from: the router at the hop of the packet, one before it, or one that ends the path. */
function placeOf(refuser: Refuser, flow: number, ttl: number): 'here' | 'before' | 'end' {
  const { hops, expiredAt, passed } = refuser;
  const own = hops.get(flow);
  if (own === ttl || (own === undefined && expiredAt.has(ttl))) return 'here';
  return passed.size > 0 && ttl > hopIn(refuser, flow) ? 'before' : 'end';
}

/**
 * The hop of the router on the path of a flow: where TTLs of the flow expired. Without any, the lowest hop where TTLs
 * of other flows expired, unless the router refused a lower TTL: then the hop before the lowest that it refused.
 */
function hopIn({ hops, expiredAt, refusedAt }: Refuser, flow: number): number {
  const [expired, refused] = [Math.min(...expiredAt), Math.min(...refusedAt.values())];
  return hops.get(flow) ?? (expired <= refused ? expired : refused - 1);
}

function refusersIn(packets: readonly TracePacket[]): ReadonlyMap<string, Refuser> {
  const refusers = new Map<string, Refuser>();
  for (const packet of packets) {
    const { answer, flow, ttl } = packet;
    if (answer?.kind !== 'refused' || isFull(packet)) continue;
    const { from: address } = answer;
    const known = refusers.get(address) ?? newRefuser(address);
    refusers.set(address, known);
    known.refusedAt.set(flow, Math.min(ttl, known.refusedAt.get(flow) ?? ttl));
  }
  for (const packet of packets) {
    const { answer, flow, ttl } = packet;
    const refuser = answer?.kind === 'expired' && !isFull(packet) ? refusers.get(answer.from) : undefined;
    refuser?.hops.set(flow, Math.min(ttl, refuser.hops.get(flow) ?? ttl));
    refuser?.expiredAt.add(ttl);
  }
  for (const refuser of refusers.values()) notePassed(refuser, packets);
  return refusers;
}

function newRefuser(address: string): Refuser {
  return {
    address,
    hops: new Map(),
    expiredAt: new Set(),
    refusedAt: new Map(),
    passed: new Set(),
  };
}

function notePassed(refuser: Refuser, packets: readonly TracePacket[]): void {
  const { address, hops, refusedAt, expiredAt, passed } = refuser;
  const others = packets.filter(
    ({ answer }) => answer !== null && answer.kind !== 'refused' && answer.from !== address,
  );
  const answeredAt = Map.groupBy(others, ({ flow }) => flow);
  for (const [flow, own] of answeredAt) {
    const ttls = own.map(({ ttl }) => ttl);
    const refused = refusedAt.get(flow);
    // The router is before the lowest TTL that it refused if a lower one expired there.
    const isBefore = refused !== undefined && [...expiredAt].some((at) => at < refused);
    let last = refused ?? Infinity;
    if (isBefore)
      do last -= 1;
      while (ttls.includes(last));
    if (ttls.some((ttl) => ttl > (hops.get(flow) ?? last))) passed.add(flow);
  }
}
