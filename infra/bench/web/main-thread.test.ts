import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect } from '@jest/globals';

import { itInBrowser } from '../../../apps/web/test/it-in-browser.ts';
import { openBrowser } from '../../../apps/web/test/browser.ts';
import { recordTasks } from './main-thread.ts';

describe('a recording of the main thread', () => {
  // A browser makes one recording at a time, and that of a crashed page may not have ended yet: each test has another
  // browser.
  let browser: Awaited<ReturnType<typeof openBrowser>> | undefined;

  const start = async (): Promise<NonNullable<typeof browser>> => (browser = await openBrowser());

  afterEach(async () => {
    await browser?.close();
    browser = undefined;
  });

  itInBrowser('leaves nothing at its browser, which may have many pages', async () => {
    const browser = await start();
    const page = await browser.newPage();
    const before = browser.listenerCount('disconnected');
    const end = await recordTasks(page);
    await end();
    const after = browser.listenerCount('disconnected');

    expect(after).toBe(before);
  });

  itInBrowser('fails when its page crashes, whose tasks would be too few', async () => {
    const page = await (await start()).newPage();
    const end = await recordTasks(page);
    const crashed = new Promise((resolve) => void page.once('error', resolve));
    // Chromium ends the renderer at this address, so the navigation gets no answer.
    void page.goto('chrome://crash').catch(() => undefined);
    await Promise.race([crashed, sleep(20_000, undefined, { ref: false })]);

    await expect(end()).rejects.toThrow('the page crashed');
  });

  itInBrowser('says how its browser ended, if it did so long before', async () => {
    const browser = await start();
    const page = await browser.newPage();
    const end = await recordTasks(page);
    const gone = once(browser.process()!, 'exit');
    const session = await page.createCDPSession();
    await session.send('Browser.crash' as 'Browser.close').catch(() => undefined);
    await gone;
    // An unhandled rejection would end the benchmark here.
    await sleep(100);

    await expect(end()).rejects.toThrow(/^the browser ended, exit status 1\d\d$/);
  });

  itInBrowser('fails when its browser ends between the confirmed end and the last events', async () => {
    const ending = await start();
    const page = await ending.newPage();
    const session = await page.createCDPSession();
    const send = session.send.bind(session) as (method: string, ...rest: unknown[]) => Promise<unknown>;
    Object.assign(session, {
      send: async (method: string, ...rest: unknown[]) =>
        method === 'Tracing.end' ? ending.close() : send(method, ...rest),
    });
    const end = await recordTasks(Object.assign(page, { createCDPSession: async () => session }));

    await expect(end()).rejects.toThrow();
  });
});
