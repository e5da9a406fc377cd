import type { Paths } from './layout-paths.ts';

/** Colours there are for networks; beyond them one for all the others. */
export const NETWORK_COLOURS = 8;

export interface Network {
  readonly asn: string;
  readonly name: string | null;
  /** 0 to `NETWORK_COLOURS` − 1, or `NETWORK_COLOURS` for the others. */
  readonly colour: number;
}

/** The networks of the routers: those that most probes' paths go through first, for they get the colours. */
export function networksOf(paths: Paths): readonly Network[] {
  const routers = paths.nodes.filter(({ kind, asn }) => kind !== 'probe' && asn !== null);
  const members = [...Map.groupBy(routers, ({ asn }) => asn!)].map(([asn, nodes]) => ({
    asn,
    name: nodes[0]!.asName,
    probes: new Set(nodes.flatMap(({ probes }) => probes)).size,
  }));
  return members
    .toSorted((a, b) => b.probes - a.probes)
    .map(({ asn, name }, index) => ({ asn, name, colour: Math.min(index, NETWORK_COLOURS) }));
}
