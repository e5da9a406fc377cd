import { itNeeding } from '../../../packages/diagnostics/test/needs.ts';
import { here } from './browser.ts';

/** `it` for tests that need a browser. */
export const itInBrowser = itNeeding(here.missing, process.env['CI']);
