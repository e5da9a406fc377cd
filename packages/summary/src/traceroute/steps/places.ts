import { listed, unique } from '../../words.ts';

/**
 * Places for a sentence, such as those of `stepText`, each router once: `hops 2 and 3, 192.0.2.1 in AS64511` for a
 * router that paths have at two hops.
 */
export function joinedPlaces(places: readonly string[]): readonly string[] {
  const byRouter = Map.groupBy(unique(places), (place) => place.split(', ').slice(1).join(', '));
  return [...byRouter].flatMap(([router, own]) => {
    if (router === '' || own.length === 1) return own;
    const positions = own.map((place) => place.slice(0, -router.length - 2));
    const hops = positions.map((position) => Number(/^hop (\d+)$/.exec(position)?.[1]));
    const where = hops.some(Number.isNaN)
      ? listed(positions)
      : `hops ${listed(hops.toSorted((a, b) => a - b).map(String))}`;
    return [`${where}, ${router}`];
  });
}
