import type { Family, FindingCode, Verdict } from '../../packages/contract/src/index.ts';

export type Protocol = 'icmp' | 'udp' | 'tcp';

/** Impairments of packets on their way into a node, and of answers on their way out. */
interface Link {
  /** Delay in each direction, milliseconds; default 1. */
  readonly delayMs?: number;
  /** Maximum random delay in addition, in each direction, milliseconds. */
  readonly jitterMs?: number;
  /** Probability that a packet is lost on the way in. */
  readonly loss?: number;
  /** Probability that an answer is lost on its way back. */
  readonly lossBack?: number;
  /** Largest packet that gets in; the place before it answers larger ones. */
  readonly mtu?: number;
  /** MTU that the previous node reports instead of the true one. */
  readonly mtuWord?: number;
  /** Packets that are too large vanish silently. */
  readonly isBlackHole?: boolean;
}

/** How a node answers, if it does. */
interface Answering {
  /** Probability of an answer. */
  readonly answers?: number;
  /** Token bucket of ICMP errors, for each probe. */
  readonly limit?: { readonly perSecond: number; readonly burst: number };
  readonly answerDelayMs?: number;
  /** Extra delay by number of the answer, from 1. */
  readonly answerDelayOfMs?: Readonly<Record<number, number>>;
  /** Further copies of each answer. */
  readonly duplicates?: number;
  /** Bytes of the packet that an error quotes, IP header included. */
  readonly quote?: number;
  readonly quoteChanged?: readonly ('source' | 'destination' | 'checksum' | 'length' | 'service')[];
  /** Packets that must not count as answers. */
  readonly broken?: 'checksum' | 'empty' | 'foreign' | 'noise' | 'payload';
  /** An ICMP error to all packets that arrive at the place, or to those with these numbers. */
  readonly refuse?: SimulatedRefusal;
}

export interface SimulatedRefusal {
  /** Type and code of ICMP. */
  readonly 4: readonly [type: number, code: number];
  /** Type and code of ICMPv6. */
  readonly 6: readonly [type: number, code: number];
  /** Numbers from 1, per protocol; all if absent. */
  readonly packets?: readonly number[];
  readonly protocols?: readonly Protocol[];
}

export interface Router extends Link, Answering {
  readonly silent?: boolean;
  /** Forwards nothing. */
  readonly hole?: boolean;
  /** Forwards packets with a TTL of 1: the next router answers twice. */
  readonly zeroTtl?: boolean;
  /** Label stack of arriving packets (RFC 4950). */
  readonly labels?: readonly number[];
  /** Answers from a private address, alternately from two, from the target's, or from that of the previous router. */
  readonly from?: 'private' | 'two' | 'target' | 'before';
}

export interface SimulatedTarget extends Link, Answering {
  readonly echo?: 'reply' | 'none';
  readonly udp?: 'unreachable' | 'reply' | 'none';
  readonly tcp?: 'open' | 'closed' | 'none';
  /** Initial TTL of its answers. */
  readonly ttl?: number;
  /** Answers with the remaining TTL of the probe packet. */
  readonly copiesTtl?: boolean;
  readonly echoCode?: number;
  readonly from?: 'elsewhere';
}

/** Several paths from the previous router to the next place. */
export interface Split {
  /** Hash input of the previous router: ports or checksum, IPv6 flow label, or per packet. */
  readonly by: 'flow' | 'label' | 'packet';
  readonly branches: readonly (readonly Stage[])[];
}

/** A loop: the last router sends all packets back by this many routers; 1 is itself. */
export interface Circle {
  readonly circle: number;
}

export type Stage = Router | Split | Circle;
/** The first stage is a pattern: each probe gets its own router of this kind. */
export type Path = readonly Stage[];

export interface Claim {
  readonly code: FindingCode;
  /** Number of the hop that the text must name by its address. */
  readonly hop?: number;
  /** Addresses of which the text must name one. */
  readonly addresses?: readonly string[];
}

/** A network, and the correct statements about it. */
export interface Scenario {
  readonly name: string;
  readonly path: Path;
  readonly target?: SimulatedTarget;
  /** Paths that replace this one after a number of packets of a probe. */
  readonly then?: readonly { readonly after: number; readonly path: Path }[];
  readonly families?: readonly Family[];
  readonly checks?: readonly CheckKind[];
  /** Options of the traceroute. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Options of the ping. */
  readonly pingOptions?: Readonly<Record<string, unknown>>;
  /** True if addresses that are not public are hidden. */
  readonly hide?: boolean;
  readonly truth?: Truth;
}

export type CheckKind = Protocol | 'ping';

/** Expected findings of the summary; none if absent. */
export interface Truth {
  /** Findings of a traceroute that have to be there. */
  readonly finds?: readonly Claim[];
  /** Allowed findings, which depend on chance or timing. */
  readonly may?: readonly (FindingCode | Claim)[];
  /** Verdicts of a traceroute; default `up` if the target answers, else `down`. */
  readonly verdicts?: readonly Verdict[];
  readonly pingFinds?: readonly Claim[];
  readonly pingMay?: readonly (FindingCode | Claim)[];
  readonly pingVerdicts?: readonly Verdict[];
  /** Path MTU; default the smallest link MTU, null if it cannot be measured. */
  readonly pathMtu?: number | null;
  /** Smallest packet that vanishes without an error; default none. */
  readonly mtuBlackHole?: number;
  /** True if packets of one flow take different paths, so that a trace does not reveal the links. */
  readonly isUnsteady?: boolean;
}

export const router = (more: Router = {}): Router => more;
export const routers = (count: number, more: Router = {}): readonly Router[] =>
  Array.from({ length: count }, () => more);
export const silent: Router = { silent: true };
