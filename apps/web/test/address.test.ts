import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';

import { here, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { pingCheck } from './world.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

/**
 * Holds the timers with the pauses after which the page changes its URL: `release` runs those that are not cleared,
 * `isHeld` is true if there are some.
 */
const holdTimers = `(() => {
  const held = new Map();
  const [set, clear] = [setTimeout, clearTimeout];
  let last = 0;
  globalThis.setTimeout = (run, ms, ...values) => {
    if (ms !== 100 && ms !== 400) return set(run, ms, ...values);
    last -= 1;
    held.set(last, run);
    return last;
  };
  globalThis.clearTimeout = (id) => (held.delete(id) ? undefined : clear(id));
  globalThis.isHeld = () => held.size > 0;
  globalThis.release = () => {
    const due = [...held.values()];
    held.clear();
    for (const run of due) run();
  };
})()`;

const address = 'location.pathname + location.search';

describe('the address of the page', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  let tab: SuiteTab;

  beforeAll(async () => {
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => browser?.close());
  beforeEach(async () => {
    showcase = await startShowcase();
    if (browser === undefined) return;
    tab = await browser.openTab(showcase.url);
    await tab.atStart(holdTimers);
  });
  afterEach(async () => {
    await tab?.close();
    showcase.close();
  });

  /** Types into a field, until the URL follows. */
  async function enter(selector: string, text: string, expected: string): Promise<void> {
    await tab.page.type(selector, text);
    await untilTrue(tab.page, `release(), ${address} === '${expected}'`);
  }

  /** Types into a field, until a change of the URL is pending. */
  async function begin(selector: string, text: string): Promise<void> {
    await tab.page.type(selector, text);
    await untilTrue(tab.page, 'isHeld()');
  }

  /** Follows a link and makes the pending changes of the URL before the page that was left is removed. */
  const follow = (selector: string): Promise<unknown> =>
    tab.page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click(); release(); ${address}`);

  itInBrowser('of a check follows its filter, but not after the check was left', async () => {
    const path = `/c/${pingCheck.testId}`;
    await tab.page.goto(`${showcase.url}${path}`);
    await untilText(tab.page, 'probes agree');
    await enter('#seek', 'de', `${path}?find=de`);

    await begin('#seek', 'u');
    expect(await follow('nav a[href$="/status"]')).toBe('/status');
    await untilText(tab.page, 'No IPv6: the probe has no route');
    expect(await tab.page.evaluate(`release(), ${address}`)).toBe('/status');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser(
    'of the first page follows what is entered, but not after another link, also to the first page',
    async () => {
      await tab.page.goto(`${showcase.url}/`);
      await untilText(tab.page, 'Ping yourself');
      await enter('#host', 'example.com', '/?type=ping&host=example.com');

      await begin('#host', '.net');
      expect(await follow('a[href*="type=traceroute"]')).toBe('/?type=traceroute&host=203.0.113.77');
      await untilTrue(tab.page, `document.querySelector('#host').value === '203.0.113.77'`);
      expect(await tab.page.evaluate(`release(), ${address}`)).toBe('/?type=traceroute&host=203.0.113.77');

      await begin('#host', '7');
      expect(await follow('nav a[href$="/status"]')).toBe('/status');
      expect(tab.faults).toEqual([]);
    },
  );
});
