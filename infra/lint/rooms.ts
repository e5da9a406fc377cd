import { posix } from 'node:path';

/** An import cycle between children of a room, which is a folder of sources; its children are its files and rooms. */
export interface Circle {
  readonly room: string;
  /** Children of the room of which each imports every other, directly or through others; sorted. */
  readonly children: readonly string[];
  /** The imports between these children, as `file -> file`. */
  readonly imports: readonly string[];
}

/** `from` and `import` with a relative path, including those of types. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g;

/**
 * Finds the relative imports by which two children of one room need each other. Without them the children can be layered
 * so that none goes upward. Imports by the name of a package do not count.
 *
 * @param sources paths from the root of the repository, and their text
 */
export function findCircles(sources: ReadonlyMap<string, string>): readonly Circle[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text).filter(([, to]) => sources.has(to)));
  const rooms = new Set([...sources.keys()].flatMap(roomsAround));
  return [...rooms].toSorted().flatMap((room) => circlesOf(room, imports));
}

/** @returns the rooms that directly contain more than `most` files */
export function crowdedRooms(files: Iterable<string>, most: number): readonly string[] {
  const rooms = Map.groupBy(files, (file) => posix.dirname(file));
  return [...rooms].flatMap(([room, own]) => (own.length > most ? [room] : [])).toSorted();
}

type Import = readonly [from: string, to: string];

function importsOf(file: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(([, path = '']) => [file, posix.join(posix.dirname(file), path)]);
}

function roomsAround(file: string): readonly string[] {
  const room = posix.dirname(file);
  return room === '.' ? [] : [room, ...roomsAround(room)];
}

function circlesOf(room: string, imports: readonly Import[]): readonly Circle[] {
  const childOf = (file: string): string | undefined =>
    file.startsWith(`${room}/`) ? file.slice(room.length + 1).split('/')[0] : undefined;
  const between = imports.flatMap(([from, to]) => {
    const [a, b] = [childOf(from), childOf(to)];
    return a === undefined || b === undefined || a === b ? [] : [{ a, b, text: `${from} -> ${to}` }];
  });
  const needs = Map.groupBy(between, ({ a }) => a);
  const reach = new Map([...needs.keys()].map((child) => [child, reachable(child, needs)]));
  const inCircle = [...reach.keys()].filter((child) => reach.get(child)!.has(child));
  const circles = Map.groupBy(inCircle, (child) =>
    inCircle.filter((other) => reach.get(child)!.has(other) && reach.get(other)!.has(child)).join(' '),
  );
  return [...circles.values()].map((children) => ({
    room,
    children: children.toSorted(),
    imports: between.flatMap(({ a, b, text }) => (children.includes(a) && children.includes(b) ? [text] : [])),
  }));
}

function reachable(start: string, needs: ReadonlyMap<string, readonly { readonly b: string }[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [start];
  for (let child = next.pop(); child !== undefined; child = next.pop()) {
    for (const { b } of needs.get(child) ?? []) {
      if (reached.has(b)) continue;
      reached.add(b);
      next.push(b);
    }
  }
  return reached;
}
