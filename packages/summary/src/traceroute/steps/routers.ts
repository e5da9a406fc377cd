import { byText, type SparseResultOf } from '../../probe-result.ts';

type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];

/** A responding router with a known address. */
export interface Router {
  readonly ip: string;
  readonly hostname: string | null;
  readonly asn: string | null;
  readonly asName: string | null;
  readonly rttMin: number | null;
}

/** Responders of a hop with a known address: first the one in the hop's `ip`, then the others by address. */
export function routersOf(hop: Hop): readonly Router[] {
  const routers = new Map<string, Router>();
  for (const one of [hop, ...hop.responders]) {
    if (one.ip === null) continue;
    const own = hop.responders.find(({ ip }) => ip === one.ip)?.rtts ?? hop.rtts;
    const { ip, hostname, asn, asName } = one;
    if (!routers.has(ip)) routers.set(ip, { ip, hostname, asn, asName, rttMin: least(own) });
  }
  const [first, ...others] = routers.values();
  return first === undefined ? [] : [first, ...others.toSorted((a, b) => byText(a.ip, b.ip))];
}

export function least(rtts: readonly (number | null)[]): number | null {
  const known = rtts.filter((rtt) => rtt !== null);
  return known.length === 0 ? null : Math.min(...known);
}
