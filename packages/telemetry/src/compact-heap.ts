import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns memory that only the start of the program needed, such as that of parsed code, to the system; to be called at
 * the end of the start. The flags are set here, because V8 discards the compiled code of Node's own modules if they are
 * given on the command line.
 *
 * @param growth bounds how far the old generation grows before it is collected, which costs some CPU time
 */
export function compactHeap(growth?: '--optimize-for-size' | '--heap-growing-percent=50'): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  if (growth !== undefined) setFlagsFromString(growth);
}
