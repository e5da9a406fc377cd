interface Turn<T> {
  readonly running: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Shares runs among those who ask for one at the same time. Each is given a run that begins after it asked: one that is under way
 * may tell of an earlier moment.
 *
 * @returns starts a run for a key, or joins the next one
 */
export function shareRuns<T>(): (key: object, run: () => Promise<T>) => Promise<T> {
  const turns = new Map<object, Turn<T>>();
  const take = (key: object, run: () => Promise<T>): Promise<T> => {
    const turn = turns.get(key);
    if (turn === undefined) {
      const running = run().finally(() => turns.delete(key));
      turns.set(key, { running, next: undefined });
      return running;
    }
    turn.next ??= turn.running.then(
      () => take(key, run),
      () => take(key, run),
    );
    return turn.next;
  };
  return take;
}
