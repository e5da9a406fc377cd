import { itNeeding } from '../../../packages/diagnostics/test/needs.ts';
import { here } from './browser.ts';

/** `it` for tests in a browser. */
export const itInBrowser = itNeeding(here.missing, process.env['CI']);
