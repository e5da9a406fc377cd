/** Blocks the event loop for this many milliseconds, as a stall of the machine would. */
export function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
