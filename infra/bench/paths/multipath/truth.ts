import type { Case } from '../../../simulator/compile.ts';

/** Links as `from to`, addresses of routers and of the target. */
export type Links = ReadonlySet<string>;

export interface Truth {
  readonly links: Links;
  /**
   * Links that packets can prove: all; on a path with a per-packet balancer, those from or to the only node of a hop.
   */
  readonly provable: Links;
}

/** The links that a probe can find on the way to the target of a case. */
export function truthOf({ places, entries }: Case, probe: number): Truth {
  const address = (place: number): string => places[place]!.addresses[0]!;
  const hops: ReadonlySet<number>[] = [new Set([entries[0]![probe]!])];
  for (let here = hops[0]!; here.size > 0; hops.push(here)) {
    here = new Set([...here].flatMap((place) => places[place]!.next));
  }
  const reachable = new Set(hops.flatMap((here) => [...here]));
  const links = new Set<string>();
  const provable = new Set<string>();
  const isByPacket = places.some(({ by }) => by === 'packet');
  for (const from of reachable) {
    for (const to of places[from]!.next) {
      const link = `${address(from)} ${address(to)}`;
      links.add(link);
      const isSure = hops.some((here, at) => here.has(from) && (here.size === 1 || hops[at + 1]?.size === 1));
      if (!isByPacket || isSure) provable.add(link);
    }
  }
  return { links, provable };
}
