/**
 * A timeout that reads pending socket data before it fires. The event loop runs timers before it reads, so after a
 * stall of the process an answer that arrived in time may still be in a socket's buffer.
 *
 * @returns a function that stops it
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
