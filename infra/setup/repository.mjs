import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
