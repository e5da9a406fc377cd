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
  /** Size of the largest answer that gets back over the link, bytes; larger ones vanish. */
  readonly mtuBack?: number;
  /** Size of the largest packet that gets in, bytes; to larger ones the previous place sends an ICMP error. */
  readonly mtu?: number;
  /** Protocols of which larger packets do not get in; all if absent. */
  readonly mtuOf?: readonly Protocol[];
  /** MTU that the previous node reports instead of the true one. */
  readonly mtuWord?: number;
  /** True if packets that are too large vanish without an ICMP error. */
  readonly isBlackHole?: boolean;
}

/** Answers of a node, and their faults. */
interface Answering {
  /** Probability of an answer. */
  readonly answers?: number;
  /** Token bucket of ICMP errors, for each probe. */
  readonly limit?: { readonly perSecond: number; readonly burst: number };
  readonly answerDelayMs?: number;
  /** Replaces `answerDelayMs`: delay by number of the answer, from 1, milliseconds; 0 if not listed. */
  readonly answerDelayOfMs?: Readonly<Record<number, number>>;
  /** Further copies of each answer. */
  readonly duplicates?: number;
  /** Bytes of the packet that an error quotes, IP header included. */
  readonly quote?: number;
  readonly quoteChanged?: readonly ('source' | 'destination' | 'checksum' | 'length' | 'service')[];
  /**
   * Makes ICMP answers that must not count: with a wrong checksum, without a quotation, with a quotation of another
   * packet or of garbled bytes, or, for echo replies, with a changed payload.
   */
  readonly broken?: 'checksum' | 'empty' | 'foreign' | 'noise' | 'payload';
  /** ICMP error with which the place refuses packets that arrive. */
  readonly refuse?: SimulatedRefusal;
}

export interface SimulatedRefusal {
  /** Type and code of ICMP. */
  readonly 4: readonly [type: number, code: number];
  /** Type and code of ICMPv6. */
  readonly 6: readonly [type: number, code: number];
  /** Numbers of the refused packets, counted from 1 per protocol; all if absent. */
  readonly packets?: readonly number[];
  readonly protocols?: readonly Protocol[];
}

export interface Router extends Link, Answering {
  readonly silent?: boolean;
  /** Forwards nothing. */
  readonly hole?: boolean;
  /** Forwards packets with a TTL of 1, so that the next router answers two TTLs, and this one none. */
  readonly zeroTtl?: boolean;
  /** MPLS label stack of arriving packets, which ICMP errors report (RFC 4950). */
  readonly labels?: readonly number[];
  /** Source of answers: a private address, two addresses in turn, the target's, or that of the previous router. */
  readonly from?: 'private' | 'two' | 'target' | 'before';
}

export interface SimulatedTarget extends Link, Answering {
  readonly echo?: 'reply' | 'none';
  readonly udp?: 'unreachable' | 'reply' | 'none';
  readonly tcp?: 'open' | 'closed' | 'none';
  /** Initial TTL of the target's answers. */
  readonly ttl?: number;
  /** Answers with the remaining TTL of the probe packet. */
  readonly copiesTtl?: boolean;
  readonly echoCode?: number;
  readonly from?: 'elsewhere';
}

/** Several paths from the previous router to the next stage. */
export interface Split {
  /**
   * What the previous router hashes in addition to addresses and protocol: the first four bytes of the transport
   * header, or the IPv6 flow label. `packet`: it chooses a branch per packet by chance.
   */
  readonly by: 'flow' | 'label' | 'packet';
  readonly branches: readonly (readonly Stage[])[];
}

/** Makes a loop of the last `circle` routers: the last one sends all packets back to the first of them. */
export interface Circle {
  readonly circle: number;
}

export type Stage = Router | Split | Circle;
/** The first stage is a pattern: each probe gets its own router of this kind. */
export type Path = readonly Stage[];

export interface Claim {
  readonly code: FindingCode;
  /** Number of the hop that the text must name, by its address or as between two others. */
  readonly hop?: number;
  /** Addresses of which the text must name one. */
  readonly addresses?: readonly string[];
}

/** A network, and the correct statements about it. */
export interface Scenario {
  readonly name: string;
  readonly path: Path;
  readonly target?: SimulatedTarget;
  /** Paths that replace `path`, each after a number of packets of a probe. */
  readonly then?: readonly { readonly after: number; readonly path: Path }[];
  readonly families?: readonly Family[];
  readonly checks?: readonly CheckKind[];
  /** Options of the traceroute. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly pingOptions?: Readonly<Record<string, unknown>>;
  /** True if addresses that are not public are hidden. */
  readonly hide?: boolean;
  readonly truth?: Truth;
}

export type CheckKind = Protocol | 'ping';

/** Statements about the network that are correct. */
export interface Truth {
  /** Findings of a traceroute that have to be there. */
  readonly finds?: readonly Claim[];
  /** Allowed findings, which depend on chance or timing. */
  readonly may?: readonly (FindingCode | Claim)[];
  /**
   * Verdicts of a traceroute; default `up` if the target answered, otherwise `unknown`. Ignored if only some of the
   * probes reach the target, because of a hole.
   */
  readonly verdicts?: readonly Verdict[];
  readonly pingFinds?: readonly Claim[];
  readonly pingMay?: readonly (FindingCode | Claim)[];
  readonly pingVerdicts?: readonly Verdict[];
  /**
   * Path MTU, or null if none needs to be measured. Default: the smallest link MTU if the trace reached the target,
   * otherwise null.
   */
  readonly pathMtu?: number | null;
  /** Smallest packet that vanishes without an error; default none. */
  readonly mtuBlackHole?: number;
  /** Full packets of the trace’s own protocol, udp or tcp; not compared if absent. */
  readonly fullSize?: { readonly bytes: number; readonly arrives: boolean };
  /** True if packets of one flow take different paths, so that a trace does not reveal the links. */
  readonly isUnsteady?: boolean;
}

export const router = (more: Router = {}): Router => more;
export const routers = (count: number, more: Router = {}): readonly Router[] =>
  Array.from({ length: count }, () => more);
export const silent: Router = { silent: true };
