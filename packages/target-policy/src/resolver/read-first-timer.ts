/**
 * A timer that lets the sockets be read before it runs out: after a stall of the process the answer may lie there already.
 *
 * @returns stops it
 */
export function readFirstTimer(act: () => void, ms: number): () => void {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(act);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
