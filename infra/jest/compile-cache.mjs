import { fileURLToPath } from 'node:url';

/**
 * Folder of Node's compile cache, which also keeps TypeScript sources without their types: saves CPU time when a
 * service starts.
 */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/node-compile/', import.meta.url));
