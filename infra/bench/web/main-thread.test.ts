import { describe, expect } from '@jest/globals';

import { itInBrowser } from '../../../apps/web/test/it-in-browser.ts';
import { openBrowser } from '../../../apps/web/test/browser.ts';
import { recordTasks } from './main-thread.ts';

describe('a recording of the main thread', () => {
  itInBrowser('fails when its browser ends between the confirmed end and the last events', async () => {
    const browser = await openBrowser();
    const page = await browser.newPage();
    const session = await page.createCDPSession();
    const send = session.send.bind(session) as (method: string, ...rest: unknown[]) => Promise<unknown>;
    Object.assign(session, {
      send: async (method: string, ...rest: unknown[]) =>
        method === 'Tracing.end' ? browser.close() : send(method, ...rest),
    });
    const end = await recordTasks(Object.assign(page, { createCDPSession: async () => session }));

    await expect(end()).rejects.toThrow();
  });
});
