import { itNeeding } from '@vantage/test-support/needs';
import { here } from './browser.ts';

/** `it` for tests that need a browser. */
export const itInBrowser = itNeeding(here.missing, process.env['CI']);
