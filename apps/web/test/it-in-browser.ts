import { itNeeding } from '@vantage/test-support/needs';
import { here } from './browser.ts';

export const itInBrowser = itNeeding(here.missing, process.env['CI']);
