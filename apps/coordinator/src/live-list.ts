/** Objects in use, in order of their addition. */
export interface LiveList<T> extends Iterable<T> {
  /** @returns a function that removes the object; further calls do nothing */
  readonly add: (item: T) => () => void;
}

interface Node<T> {
  item: T | undefined;
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
}

/**
 * A list for objects that live as long as a request. A `Set` would keep them longer: it replaces its table every few
 * additions, and an old table refers to its items and to the next table. Once V8 has moved an old table to the old
 * generation of its heap, all later ones and their items stay until the next full collection. The same happens to keys
 * of a `WeakMap` whose values refer to their keys. A removed node refers to nothing.
 */
export function createLiveList<T>(): LiveList<T> {
  const ends: Node<T> = { item: undefined, previous: undefined, next: undefined };
  let last = ends;

  return {
    add: (item) => {
      const node: Node<T> = { item, previous: last, next: undefined };
      last.next = node;
      last = node;
      return () => {
        const { previous, next } = node;
        if (previous === undefined) return;
        previous.next = next;
        if (next === undefined) last = previous;
        else next.previous = previous;
        node.item = node.previous = node.next = undefined;
      };
    },
    *[Symbol.iterator]() {
      let node = ends.next;
      while (node !== undefined) {
        // Read first: the caller may remove the item.
        const { item, next }: Node<T> = node;
        yield item!;
        node = next;
      }
    },
  };
}
