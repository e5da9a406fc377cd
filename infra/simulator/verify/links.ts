import type { Paths } from '../../../packages/contract/src/index.ts';
import { PROBES } from '../addresses.ts';
import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { ownPassages } from './truth.ts';

/** A link of the reported graph between a probe or an address and an address, and the number of nodes between. */
interface ShownLink {
  readonly from: string;
  readonly to: string;
  readonly between: number;
}

/**
 * Complains about links of the graph that no packet used. If packets of one flow take different paths, no link is
 * compared; if packets may be lost, none over nodes without an address.
 */
export function verifyLinks(run: CaseRun, { nodes, edges }: Paths): readonly Complaint[] {
  if (run.of.scenario.truth?.isUnsteady === true) return [];
  const used = usedLinks(run);
  // If all packets of a TTL may be lost, the graph may show silent nodes that do not exist.
  const isLossy = run.of.places.some(({ loss, lossBack, answers, limit }) => loss ?? lossBack ?? answers ?? limit);
  const next = Map.groupBy(edges, ({ from }) => from);
  const isNamed = (id: string): boolean => id.startsWith('ip:') || id.startsWith('probe:');
  const shown = nodes
    .filter(({ id }) => isNamed(id))
    .flatMap(({ id }) => {
      const links: ShownLink[] = [];
      const seen = new Set<string>();
      const walk = (at: string, between: number): void => {
        for (const { to } of next.get(at) ?? []) {
          if (isNamed(to)) links.push({ from: id, to, between });
          else if (!seen.has(to)) {
            seen.add(to);
            walk(to, between + 1);
          }
        }
      };
      walk(id, 0);
      return links;
    });
  const judged = shown.filter(({ between }) => between === 0 || !isLossy);
  const wrong = judged.filter(({ from, to, between }) => !used.has(`${placeOf(from)} ${between} ${placeOf(to)}`));
  return wrong.map(({ from, to, between }) => ({
    kind: 'link' as const,
    text: `no packet went from ${from} to ${to}${between === 0 ? '' : ` over ${between} others`}`,
  }));
}

/** The id of a node without what tells equal private addresses of different networks apart. */
function placeOf(id: string): string {
  return id.replace(/@.*/, '');
}

/**
 * Pairs of places that a packet passed one after the other, with the number of places between them: `from between to`,
 * with every address from which a place answers.
 */
function usedLinks({ of, shares }: CaseRun): ReadonlySet<string> {
  const used = new Set<string>();
  const trails = new Map<string, readonly number[]>();
  for (const share of shares) {
    for (const { trail } of ownPassages(of, share)) trails.set(`${share.probe}:${trail.join(' ')}`, trail);
  }
  for (const [key, trail] of trails) {
    const probe = PROBES[Number(key.slice(0, key.indexOf(':')))]!;
    // A router that does not decrement the TTL is invisible.
    const seen = trail.filter((node) => of.places[node]!.zeroTtl !== true);
    const ids = [[`probe:${probe}`], ...seen.map((node) => of.places[node]!.addresses.map((ip) => `ip:${ip}`))];
    for (const [index, from] of ids.entries()) {
      for (const [between, to] of ids.slice(index + 1).entries()) {
        for (const a of from) for (const b of to) used.add(`${a} ${between} ${b}`);
      }
    }
  }
  return used;
}
