import type { Family } from '../../packages/contract/src/index.ts';
import {
  elsewhereAddress,
  firstRouterAddress,
  otherAddress,
  privateAddress,
  PROBES,
  routerAddress,
  targetAddress,
} from './addresses.ts';
import type {
  CheckKind,
  Path,
  Protocol,
  SimulatedRefusal,
  Router,
  Scenario,
  Stage,
  SimulatedTarget,
} from './scenario.ts';

const PROTOCOL_NUMBERS = { icmp: { 4: 1, 6: 58 }, udp: { 4: 17, 6: 17 }, tcp: { 4: 6, 6: 6 } } as const;

export function protocolNumber(protocol: Protocol, family: Family): number {
  return PROTOCOL_NUMBERS[protocol][family];
}

/** A router or the target as the simulator represents it. */
export interface SimulatedPlace extends Omit<Router & SimulatedTarget, 'from' | 'refuse' | 'mtuOf'> {
  readonly addresses: readonly string[];
  readonly hop: number;
  next: readonly number[];
  by: string;
  readonly mtuOf?: readonly number[];
  readonly refuse?: { readonly type: number; readonly code: number } & Omit<SimulatedRefusal, 4 | 6 | 'protocols'>;
}

/** One check of each probe: one destination address with its simulated internet. */
export interface Case {
  readonly number: number;
  readonly scenario: Scenario;
  readonly family: Family;
  readonly check: CheckKind;
  readonly address: string;
  /** Routers and, as the last place, the target. */
  readonly places: readonly SimulatedPlace[];
  /** For each path, the index in `places` of each probe's first place. */
  readonly entries: readonly (readonly number[])[];
}

/** The input of the simulator. */
export interface World {
  readonly devices: readonly string[];
  readonly log: string;
  readonly seed: number;
  readonly cases: readonly object[];
}

export function caseOf(scenario: Scenario, number: number, family: Family, check: CheckKind): Case {
  const address = targetAddress(family, number);
  const maker = new Maker(family, number, address);
  const paths = [scenario.path, ...(scenario.then ?? []).map(({ path }) => path)];
  const entries = paths.map((path) => PROBES.map((_, probe) => maker.path(path, probe)));
  const { from, ...target } = scenario.target ?? {};
  const addresses = [from === 'elsewhere' ? elsewhereAddress(family, number) : address];
  const end: SimulatedPlace = { ...withNumbers(target, family), addresses, hop: 0, next: [], by: 'flow' };
  const last = maker.places.length;
  for (const place of maker.places) place.next = place.next.map((next) => (next === TARGET ? last : next));
  return {
    number,
    scenario,
    family,
    check,
    address,
    places: [...maker.places, end],
    entries: entries.map((own) => own.map((entry) => (entry === TARGET ? last : entry))),
  };
}

export function worldOf(cases: readonly Case[], devices: readonly string[], log: string, seed: number): World {
  const plans = cases.map(({ number, address, places, entries, scenario }) => ({
    number,
    address,
    entries,
    routers: places.slice(0, -1),
    target: places.at(-1),
    changeAfter: (scenario.then ?? []).map(({ after }) => after),
  }));
  return { devices, log, seed, cases: plans };
}

/** Placeholder for the target until the number of places is known. */
const TARGET = -1;

interface Ways {
  readonly next: readonly number[];
  readonly by: string;
}

class Maker {
  readonly places: SimulatedPlace[] = [];
  private readonly family: Family;
  private readonly number: number;
  private readonly target: string;
  private readonly waysAt = new Map<number, number>();
  private readonly shared = new Map<Path, Ways>();

  constructor(family: Family, number: number, target: string) {
    this.family = family;
    this.number = number;
    this.target = target;
  }

  /** Adds the missing places of a path; returns the index of a probe's first one. */
  path(path: Path, probe: number): number {
    const [first, ...rest] = path;
    if (first === undefined) return TARGET;
    const beyond = this.shared.get(path) ?? this.stages(rest, 2, { next: [TARGET], by: 'flow' });
    this.shared.set(path, beyond);
    return this.add(first as Router, 1, beyond, firstRouterAddress(this.family, this.number, probe));
  }

  private stages(stages: readonly Stage[], hop: number, end: Ways): Ways {
    const circle = stages.findIndex((stage) => 'circle' in stage);
    const straight = circle === -1 ? stages : stages.slice(0, circle);
    let ways = end;
    let at = hop + lengthOf(straight);
    const entered: number[] = [];
    for (const stage of straight.toReversed() as readonly Stage[]) {
      if ('branches' in stage) {
        const start = at - lengthOf([stage]);
        const beyond = ways;
        ways = { next: stage.branches.flatMap((branch) => this.stages(branch, start, beyond).next), by: stage.by };
        at = start;
      } else {
        at -= 1;
        ways = { next: [this.add(stage as Router, at, ways)], by: 'flow' };
        entered.unshift(ways.next[0]!);
      }
    }
    const stage = stages[circle];
    if (stage !== undefined && 'circle' in stage) {
      this.places[entered.at(-1)!]!.next = [entered.at(-stage.circle)!];
    }
    return ways;
  }

  private add({ from, ...router }: Router, hop: number, { next, by }: Ways, address?: string): number {
    const way = this.waysAt.get(hop) ?? 0;
    if (address === undefined) this.waysAt.set(hop, way + 1);
    const own = address ?? routerAddress(this.family, this.number, hop, way);
    const addresses = this.addresses(from, own, hop, way);
    const place = { ...withNumbers(router, this.family), addresses, hop, next, by };
    return this.places.push(place) - 1;
  }

  private addresses(from: Router['from'], own: string, hop: number, way: number): readonly string[] {
    const { family, number } = this;
    if (from === 'private') return [privateAddress(family, number, hop)];
    if (from === 'two') return [own, otherAddress(family, number, hop, way)];
    if (from === 'target') return [this.target];
    return [from === 'before' ? routerAddress(family, number, hop - 1, way) : own];
  }
}

/** Replaces the names of protocols by their numbers. */
function withNumbers<T extends { readonly refuse?: SimulatedRefusal; readonly mtuOf?: readonly Protocol[] }>(
  { refuse, mtuOf, ...place }: T,
  family: Family,
): Omit<T, 'refuse' | 'mtuOf'> & Pick<SimulatedPlace, 'refuse' | 'mtuOf'> {
  const numbers = (protocols: readonly Protocol[]): readonly number[] =>
    protocols.map((protocol) => protocolNumber(protocol, family));
  const sized = { ...place, ...(mtuOf && { mtuOf: numbers(mtuOf) }) };
  if (refuse === undefined) return sized;
  const { packets, protocols } = refuse;
  const [type, code] = refuse[family];
  return {
    ...sized,
    refuse: { type, code, ...(packets && { packets }), ...(protocols && { protocols: numbers(protocols) }) },
  };
}

/** Length of the longest path in hops; the routers of a loop are not counted. */
export function lengthOf(stages: readonly Stage[]): number {
  return stages.reduce((sum, stage) => {
    if ('circle' in stage) return sum;
    return sum + ('branches' in stage ? Math.max(...stage.branches.map(lengthOf)) : 1);
  }, 0);
}
