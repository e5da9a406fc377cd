import { escapeText, MOST_MOVES, MOVE_ADDRESSES, MOVE_HOPS, pathChangeKinds, type PathEvent } from '@vantage/contract';
import { pathChangeSentence, type PathMove } from '@vantage/summary';

/** The fields of a `path` event that describe the change. */
export type FoundChange = Required<Pick<PathEvent, 'before' | 'probes' | 'change' | 'sentence' | 'changes'>>;

/** The change of the path from one probe. */
export interface ChangedPath {
  readonly text: string;
  readonly change: (typeof pathChangeKinds)[number];
  /** Id of the check with the path before the change. */
  readonly id: string;
  readonly move: PathMove;
}

type Move = FoundChange['changes'][number];

const MOST_NETWORKS = 16;

/** The changes of a tick in the form of a `path` event; undefined if there are none. */
export function describeChanges(changes: ReadonlyMap<string, ChangedPath>): FoundChange | undefined {
  if (changes.size === 0) return undefined;
  const sentence = pathChangeSentence(new Map([...changes].map(([probe, { text }]) => [probe, text])));
  const kinds = new Set([...changes.values()].map(({ change }) => change));
  const groups = Map.groupBy(changes.keys(), (probe) => JSON.stringify(changes.get(probe)));
  const sorted = [...groups.values()].toSorted((one, other) => other.length - one.length);
  return {
    before: [...new Set([...changes.values()].map(({ id }) => id))],
    probes: [...changes.keys()].toSorted(),
    change: pathChangeKinds.find((kind) => kinds.has(kind))!,
    sentence: escapeText(sentence, 1_024),
    changes: sorted.slice(0, MOST_MOVES).map((probes) => {
      const { text, change, id, move } = changes.get(probes[0]!)!;
      return { probes: probes.toSorted(), before: id, change, ...boundedMove(move), text: escapeText(text, 512) };
    }),
  };
}

function boundedMove({ hop, from, to, networksGone, networksNew }: PathMove): Pick<Move, keyof PathMove> {
  const hops = (all: readonly (readonly string[])[]): string[][] =>
    all.slice(0, MOVE_HOPS).map((addresses) => addresses.slice(0, MOVE_ADDRESSES));
  return {
    hop,
    from: hops(from),
    to: hops(to),
    networksGone: networksGone.slice(0, MOST_NETWORKS),
    networksNew: networksNew.slice(0, MOST_NETWORKS),
  };
}
