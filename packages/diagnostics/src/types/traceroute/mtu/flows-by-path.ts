import type { Trace } from '../probing/trace-state.ts';

/**
 * Indexes of flows over different paths. The first is one whose packets to the target were all answered, or else the
 * first that reached it. Each further one passed a router that none before it passed. Left out are paths through the
 * same routers in another combination, and those on which packets to the hops of the target were lost, since they may
 * be broken.
 */
export function flowsByPath({ views, packets }: Trace): readonly number[] {
  const whole = views.findIndex(
    ({ reached, atEnd }) => reached && atEnd.every(({ answer }) => answer?.kind === 'target'),
  );
  const first = Math.max(0, whole === -1 ? views.findIndex(({ reached }) => reached) : whole);
  const distance = Math.min(...packets.flatMap(({ ttl, answer }) => (answer?.kind === 'target' ? [ttl] : [])));
  const lost = packets.flatMap(({ flow, ttl, answer }) => (answer === null && ttl >= distance ? [flow] : []));
  const passed = new Set<string>();
  const isNew = (flow: number): boolean => {
    const expired = packets.flatMap((one) => (one.flow === flow && one.answer?.kind === 'expired' ? [one.answer] : []));
    const unknown = expired.filter(({ from }) => !passed.has(from));
    for (const { from } of unknown) passed.add(from);
    return unknown.length > 0;
  };
  for (const flow of [first, ...new Set(lost)]) isNew(flow);
  return [first, ...[...views.keys()].filter((flow) => flow !== first && isNew(flow))];
}
