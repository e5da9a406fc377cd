interface Turn<T> {
  readonly running: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Shares runs among concurrent callers. Each caller gets a run that starts after its call, because the result of an
 * earlier one may be out of date.
 *
 * @returns a function that starts a run for a key, or joins the next one
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
