import { writeFileSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { axeViolations, colourViolations } from './axe.ts';
import { here, textOf, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { problem } from './showcase-answers.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { httpCheck, pingCheck, tcpCheck, tracerouteCheck, worldChecks } from './world.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

type Results = Record<string, Record<string, unknown>>;

/** A later check, with other fields at the first probe that succeeded. */
function later(check: Check, testId: string, fieldsOf: (result: Record<string, unknown>) => object): Check {
  const results = check.results as Results;
  const [probe, result] = Object.entries(results).find(([, one]) => one['result'] === 'success')!;
  return { ...check, testId, results: { ...results, [probe]: { ...result, ...fieldsOf(result) } } };
}

const laterTrace = later(tracerouteCheck, 'traceLaterAAAAAAAAAAAA', ({ hops }) => {
  const all = hops as readonly { readonly ip: string | null; readonly responders: readonly object[] }[];
  const at = all.findIndex(({ ip }) => ip !== null);
  const moved = { ...all[at]!, ip: '192.0.2.250', responders: [{ ...all[at]!.responders[0], ip: '192.0.2.250' }] };
  return { hops: all.with(at, moved), flows: undefined };
});
const laterPage = later(httpCheck, 'httpLaterAAAAAAAAAAAAA', () => ({
  statusCode: 302,
  timings: { dns: 5, connect: 20, tls: 25, firstByte: 900, download: 5, total: 955 },
}));
const laterCertificate = later(httpCheck, 'certLaterAAAAAAAAAAAAA', ({ tls }) => {
  const { chain, ...others } = tls as { readonly chain: readonly object[] };
  const fingerprint256 = Array.from({ length: 32 }, () => 'AB').join(':');
  return { tls: { ...others, chain: [{ ...chain[0], fingerprint256 }, ...chain.slice(1)] } };
});
const laterPort = later(tcpCheck, 'portLaterAAAAAAAAAAAAA', () => ({
  rt: 1287.4,
  attempts: [1287.4, 1300, 1304.9].map((rt) => ({ rt, error: null })),
}));

const views = [
  ['a path', `/c/${tracerouteCheck.testId}/compare/${laterTrace.testId}`, '192.0.2.250'],
  ['phases', `/c/${httpCheck.testId}/compare/${laterPage.testId}`, 'Status 200 → 302'],
  ['round trips', `/c/${tcpCheck.testId}/compare/${laterPort.testId}`, 'edian round trip'],
] as const;

/** An expression for the texts of the table cells that lie outside of what the element shows before it is scrolled. */
function hiddenCells(selector: string): string {
  return `[...document.querySelectorAll('${selector} :is(th, td)')].filter((cell) =>
    cell.getBoundingClientRect().right > cell.closest('.scroll').getBoundingClientRect().right + 1).map((cell) => cell.innerText)`;
}

describe('the comparison of two checks', () => {
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
    showcase.reset({ checks: [...worldChecks, laterTrace, laterPage, laterPort, laterCertificate] });
    if (browser !== undefined) tab = await browser.openTab(showcase.url);
  });
  afterEach(async () => tab?.close());

  for (const [name, path, text] of views) {
    itInBrowser(`can be used by everyone and fits a phone: ${name}`, async () => {
      await tab.page.setViewport({ width: 390, height: 900 });
      await tab.page.goto(`${showcase.url}${path}`);
      await untilText(tab.page, text);
      await tab.page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true;`);
      for (const [width, scheme] of [
        [390, 'dark'],
        [1280, 'light'],
      ] as const) {
        await tab.page.setViewport({ width, height: 900 });
        await tab.page.emulateMediaFeatures([
          { name: 'prefers-color-scheme', value: scheme },
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ]);
        expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await (width === 390 ? axeViolations : colourViolations)(tab.page)).toEqual([]);
        expect(await tab.page.evaluate(hiddenCells('[aria-label="Differences by probe"]'))).toEqual([]);
        if (process.env['SHOTS'] !== undefined) {
          writeFileSync(
            `${process.env['SHOTS']}/${name.replace(' ', '-')}-${width}-${scheme}.png`,
            await tab.page.screenshot({ fullPage: true }),
          );
        }
      }
      expect(tab.faults).toEqual([]);
    });
  }

  itInBrowser('breaks no word about the certainty of long values', async () => {
    await tab.page.setViewport({ width: 1_000, height: 900 });
    await tab.page.goto(`${showcase.url}/c/${httpCheck.testId}/compare/${laterCertificate.testId}`);
    await untilText(tab.page, 'certificate: fingerprint256');

    const lines = `[...document.querySelectorAll('.differences .badge')].map((badge) => {
      const words = document.createRange();
      words.selectNodeContents(badge.lastChild);
      return new Set([...words.getClientRects()].map(({ top }) => top)).size;
    })`;
    expect(new Set((await tab.page.evaluate(lines)) as readonly number[])).toEqual(new Set([1]));
  });

  itInBrowser('has both values of a port in view on a phone, and shows that a wide table can be scrolled', async () => {
    await tab.page.setViewport({ width: 390, height: 900 });
    await tab.page.goto(`${showcase.url}/c/${tcpCheck.testId}/compare/${laterPort.testId}`);
    await untilText(tab.page, 'edian round trip');

    expect(await textOf(tab.page, '.differences td')).toBe('round trip (median)');
    const figures = '[aria-label="Figures by probe"]';
    // Each frame adds rows, and a row may widen the columns.
    await untilTrue(
      tab.page,
      `document.querySelectorAll('${figures} tbody tr').length === ${Object.keys(tcpCheck.results).length}`,
    );
    const hidden = (await tab.page.evaluate(hiddenCells(figures))) as readonly string[];
    expect(hidden.filter((text) => /\d m?s/.test(text.replaceAll('\u00A0', ' ')))).toEqual([]);
    expect(await tab.page.evaluate(`getComputedStyle(document.querySelector('${figures}')).backgroundImage`)).toMatch(
      /gradient.*gradient/,
    );
  });

  /** Stores the check as one that this browser started with this request. */
  const startedHere = (request: object): Promise<unknown> => {
    const { testId: id, type, host, createdAt: at } = pingCheck;
    const kept = JSON.stringify([{ id, type, host, at, request }]);
    return tab.atStart(`localStorage.setItem('vantage.recent', ${JSON.stringify(kept)})`);
  };
  const press = (text: string): Promise<unknown> =>
    tab.page.evaluate(
      `[...document.querySelectorAll('button')].find((b) => b.textContent.trim() === '${text}').click()`,
    );

  itInBrowser('opens when a check is run again from the same probes, once the new one is completed', async () => {
    const options = { count: 8, packetSize: 1200 };
    await startedHere({ type: 'ping', host: pingCheck.host, limit: 13, family: 6, options });
    const again: Check = { ...pingCheck, testId: 'pingAgainAAAAAAAAAAAAA', status: 'pending', completedAt: null };
    showcase.checks.set(again.testId, again);
    showcase.answers.push({ status: 202, body: { checkId: again.testId, status: 'pending', message: '' } });
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}`);
    await untilText(tab.page, 'probes agree');

    await press('Again');
    await untilText(tab.page, 'Both checks must be completed first');
    expect(showcase.asked.filter((path) => path.includes('/compare/') && path.startsWith('/check'))).toEqual([]);
    showcase.checks.set(again.testId, { ...again, status: 'completed', completedAt: pingCheck.completedAt });

    await untilTrue(tab.page, `document.querySelector('.verdict-word')?.textContent === 'Same'`);
    const probes = Object.keys(pingCheck.results);
    expect(showcase.posted).toEqual([
      { type: 'ping', host: pingCheck.host, family: 6, options: { ...options, endWithStream: true }, probes },
    ]);
    expect(await tab.page.evaluate('location.pathname + location.search')).toBe(
      `/c/${pingCheck.testId}/compare/${again.testId}`,
    );
    await untilTrue(tab.page, `document.title === 'Comparison of ping ${pingCheck.host} · Vantage'`);
    expect(await textOf(tab.page, '[aria-label=Comparison]')).not.toContain('default options');
    expect(await textOf(tab.page, '.headline')).toBe(
      'Nothing differs beyond noise: compared from 12 of 13 probes, the other did not measure.',
    );
    // The figures are there although nothing differs.
    const probe = Object.entries(pingCheck.results as Results).find(([, { result }]) => result === 'success')![0];
    const figures = await textOf(tab.page, '[aria-label="Figures by probe"]');
    expect(figures).toContain('Average');
    expect(figures).toContain(probe);

    // The list has the verdict of the new check, although its page was never opened.
    await tab.page.evaluate(`document.querySelector('header a').click()`);
    await untilTrue(tab.page, `document.querySelector('.recent li')?.innerText.includes('partial')`);
    expect(await tab.page.evaluate(`document.querySelector('.recent li a').pathname`)).toBe(`/c/${again.testId}`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says that options are the defaults where those of the check are not known', async () => {
    // `pingCheck` was sent with other options than the defaults: its results have eight packets, twice the default.
    const again: Check = { ...pingCheck, testId: 'pingAgainAAAAAAAAAAAAA' };
    showcase.checks.set(again.testId, again);
    showcase.answers.push({ status: 202, body: { checkId: again.testId, status: 'pending', message: '' } });
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}`);
    await untilText(tab.page, 'probes agree');
    const buttons = await textOf(tab.page, '.copy-bar');
    expect(buttons).toContain('Again with default options');

    await press('Again with default options');
    await untilTrue(tab.page, `document.querySelector('.verdict-word')?.textContent === 'Same'`);
    expect(showcase.posted).toEqual([{ type: 'ping', host: pingCheck.host, probes: Object.keys(pingCheck.results) }]);
    const note =
      /^Measured again with the default options: those of the first check are known only where it was started/;
    expect(await textOf(tab.page, '[aria-label=Comparison]')).toMatch(note);
    expect(await axeViolations(tab.page)).toEqual([]);

    // Another browser, which has no memory of the checks, shows the note as well: the link asks for it.
    await tab.page.setViewport({ width: 320, height: 900 });
    await tab.page.evaluate('localStorage.clear()');
    await tab.page.reload();
    await untilTrue(tab.page, `document.querySelector('.verdict-word')?.textContent === 'Same'`);
    expect(await textOf(tab.page, '[aria-label=Comparison]')).toMatch(note);
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}`);
    await untilText(tab.page, 'Again with default options');
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('runs a check of a link again with its options, and says what is not known of them', async () => {
    const probes = Object.keys(pingCheck.results);
    const asked: Check = { ...pingCheck, request: { options: { count: 8, endWithStream: true } } };
    const withHeaders: Check = {
      ...httpCheck,
      request: { options: { method: 'HEAD' }, withheld: ['headers'] },
    };
    for (const check of [asked, withHeaders]) showcase.checks.set(check.testId, check);
    const again: Check = { ...asked, testId: 'pingAgainAAAAAAAAAAAAA' };
    showcase.checks.set(again.testId, again);
    showcase.answers.push({ status: 202, body: { checkId: again.testId, status: 'pending', message: '' } });
    await tab.page.goto(`${showcase.url}/c/${asked.testId}`);
    await untilText(tab.page, 'probes agree');
    expect(await textOf(tab.page, '.result-head .note')).toMatch(/^Count 8 · /);
    expect(await tab.page.title()).toBe('ping www.example.com (Count 8) · Vantage');

    await press('Again');
    await untilTrue(tab.page, `document.querySelector('.verdict-word')?.textContent === 'Same'`);
    expect(showcase.posted).toEqual([
      { type: 'ping', host: pingCheck.host, options: { count: 8, endWithStream: true }, probes },
    ]);
    expect(await tab.page.evaluate('location.search')).toBe('');
    expect(await textOf(tab.page, '[aria-label=Comparison]')).not.toContain('default options');

    await tab.page.goto(`${showcase.url}/c/${withHeaders.testId}`);
    await untilText(tab.page, 'Again without its headers');
    expect(await textOf(tab.page, '.result-head .note')).toMatch(/^Method HEAD · Headers · /);
    await tab.page.goto(`${showcase.url}/`);
    await untilText(tab.page, 'Method HEAD · Headers');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says why a check is not run again', async () => {
    showcase.answers.push({
      status: 429,
      headers: { 'retry-after': '7' },
      body: { status: 429, detail: 'Too many of them.' },
    });
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}`);
    await untilText(tab.page, 'probes agree');

    await press('Again with default options');

    await untilText(tab.page, 'Too many of them.');
  });

  itInBrowser('reports why it waits for a check, and continues automatically', async () => {
    let isRefused = true;
    showcase.reset({
      before: async (path, response) => {
        if (!isRefused || !path.endsWith('/results')) return false;
        response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' });
        response.end(JSON.stringify(problem(503, 'The store cannot be reached.')));
        return true;
      },
    });
    showcase.checks.set(laterPort.testId, laterPort);
    await tab.page.goto(`${showcase.url}/c/${tcpCheck.testId}/compare/${laterPort.testId}`);
    await untilText(tab.page, 'The store cannot be reached. Trying again');

    isRefused = false;

    await untilTrue(tab.page, `document.querySelector('.verdict-word') !== null`);
    expect(await tab.page.evaluate(`document.querySelector('.trouble')`)).toBeNull();
  });

  itInBrowser('says which checks cannot be compared', async () => {
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}/compare/nnnnnnnnnnnnnnnnnnnnnn`);

    await untilText(tab.page, 'The checks cannot be compared');
    await untilText(tab.page, 'There is no such check.');
  });
});
