import { writeFileSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';

import { axeViolations, colourViolations } from './axe.ts';
import { here, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { multipathCheck } from './world/multipath-check.ts';

jest.setTimeout(3 * WAIT_LIMIT_MS);

describe('a check of all paths', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  let tab: SuiteTab;
  beforeAll(async () => {
    showcase = await startShowcase();
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    showcase.close();
  });
  beforeEach(async () => {
    showcase.reset({ checks: [multipathCheck] });
    if (browser !== undefined) tab = await browser.openTab(showcase.url);
  });
  afterEach(async () => tab?.close());

  itInBrowser('draws links that lost packets and balancers, and lists both for a probe', async () => {
    for (const [width, scheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      await tab.page.setViewport({ width, height: 900 });
      await tab.page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await tab.page.goto(`${showcase.url}/c/${multipathCheck.testId}`);
      await untilText(tab.page, 'One of the 2 ways found behind hop 2, 198.51.100.20');
      await tab.page.evaluate(`document.querySelector('tr[data-probe] [aria-expanded=false]').click()`);
      await untilText(tab.page, 'All paths');
      await tab.page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true;`);
      await untilTrue(tab.page, `document.querySelectorAll('.edge.is-lossy').length > 0`);

      const texts = await tab.page.evaluate(
        `[...document.querySelectorAll('[aria-label=Links] tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent).join(' | '))`,
      );
      expect(texts).toContain('5 | 198.51.100.23 | 198.51.100.200 | 7 | 6 of 7 | 16.0 ms | 16.0 ms');
      expect(await tab.page.evaluate(`document.querySelectorAll('.shape.by-flow').length`)).toBe(1);
      expect(await tab.page.evaluate(`document.querySelectorAll('.shape.by-packet').length`)).toBe(1);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await (width === 390 ? axeViolations : colourViolations)(tab.page)).toEqual([]);
      if (process.env['SHOTS'] !== undefined) {
        const image = await tab.page.screenshot({ fullPage: true });
        writeFileSync(`${process.env['SHOTS']}/paths-${width}-${scheme}.png`, image);
      }
    }
    expect(tab.faults).toEqual([]);
  });
});
