/**
 * A timer that lets the sockets be read before it runs out. The event loop runs timers before it reads: after a stall of
 * the process an answer may have lain in a socket's buffer for long, and it came in time all the same.
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
