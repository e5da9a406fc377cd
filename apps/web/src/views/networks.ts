import type { Paths } from '@vantage/contract';

/** Number of distinct network colours; further networks share one. */
export const NETWORK_COLOURS = 8;

export interface PathNetwork {
  readonly asn: string;
  readonly name: string | null;
  /** 0 to `NETWORK_COLOURS` − 1, or `NETWORK_COLOURS` for further networks. */
  readonly colour: number;
}

/** Networks of the routers and the target, most probes first: the first ones get distinct colours. */
export function networksOf(paths: Paths): readonly PathNetwork[] {
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
