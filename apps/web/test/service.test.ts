import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { createClient } from '@vantage/client';

import { startService, temporaryFolder, type Service } from '../../standalone/test/service.ts';
import { startTargets, type Targets } from '../../standalone/test/targets.ts';
import { axeViolations, colourViolations } from './axe.ts';
import { here, WAIT_LIMIT_MS, textOf, untilText, untilTrue } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { openSuiteBrowser, type SuiteBrowser } from './suite-browser.ts';

jest.setTimeout(6 * WAIT_LIMIT_MS);

/** Raw sockets need root, or CAP_NET_RAW, which is not looked for; in CI they are required. */
const hasRawSockets = process.getuid?.() === 0 || process.env['CI'] !== undefined;

describe('the page of the whole service', () => {
  const data = temporaryFolder();
  let targets: Targets;
  let service: Service | undefined;
  let browser: SuiteBrowser | undefined;

  beforeAll(async () => {
    if (here.missing !== null) return;
    browser = await openSuiteBrowser();
    targets = await startTargets(data.folder);
    service = await startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8', '--rate-limit', '100000'], {
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
      NODE_EXTRA_CA_CERTS: targets.caFile,
    });
  }, 4 * WAIT_LIMIT_MS);

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    targets?.close();
    data.remove();
  }, WAIT_LIMIT_MS);

  const checks = [
    ...(hasRawSockets
      ? ([
          ['ping', () => '127.0.0.1', '127.0.0.1 answers pings', 'Round-trip times'],
          ['traceroute', () => '127.0.0.1', '127.0.0.1 is reached', '3 of 3 probes reached the target'],
        ] as const)
      : []),
    ['http', () => `https://secure.example.com:${targets.httpsPort}/`, 'answers with status 200', 'days left'],
    ['dns', () => 'www.example.com', 'www.example.com resolves (A)', '127.0.0.1'],
    ['tcp', () => `127.0.0.1:${targets.tcpPort}`, 'is open', 'Open'],
    ['udp', () => `127.0.0.1:${targets.udpPort}`, 'is open', 'Open'],
    ['info', () => '127.0.0.1', '127.0.0.1', 'About this address'],
  ] as const;

  itInBrowser('has an API reference that everyone can use and that breaks no policy', async () => {
    const tab = await browser!.openTab(service!.url);
    await tab.page.goto(`${service!.url}/docs`);
    await tab.page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true;`);
    expect(await tab.page.evaluate(faultsOfWholePage)).toEqual([]);

    expect(Number(await tab.page.evaluate(onePartOfEachKind))).toBeGreaterThan(50);
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    expect(await colourViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  itInBrowser('lets pages of others show a badge, a card and an embed of a check, and frame nothing else', async () => {
    const { url } = service!;
    const check = await createClient({ baseUrl: url }).check({
      type: 'tcp',
      host: '127.0.0.1',
      port: targets.tcpPort,
    });
    const [id, paths] = [check.testId, { embed: `/c/${check.testId}/embed`, page: `/c/${check.testId}` }];
    const images = ['badge.svg', 'card.png'].map((name) => `<img src="${url}/check/${id}/${name}">`);
    const frames = Object.entries(paths).map(([name, path]) => `<iframe id="${name}" src="${url}${path}"></iframe>`);
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${[...images, ...frames].join('')}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const tab = await browser!.openTab(url);
    try {
      await tab.page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      expect(
        await tab.page.evaluate(
          `[...document.images].map(({ naturalWidth, naturalHeight }) => [naturalWidth > 100, naturalHeight])`,
        ),
      ).toEqual([
        [true, 20],
        [true, 630],
      ]);
      const texts = await Promise.all(
        tab.page.frames().map(async (frame) => String(await frame.evaluate('document.body?.innerText ?? ""'))),
      );
      expect(texts.filter((text) => text.includes('is open from all 3 probes'))).toHaveLength(1);
      await tab.page.goto(url + paths.embed);
      for (const value of ['dark', 'light']) {
        await tab.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
        expect(await axeViolations(tab.page)).toEqual([]);
      }
      expect(await textOf(tab.page, 'body')).toContain('demo-1');
      // On a phone, only words that are longer than a line are broken.
      await tab.page.setViewport({ width: 390, height: 800 });
      const heads = `[...document.querySelectorAll('th')]`;
      const brokenWords = `${heads}.map(({ nextElementSibling }) => {
        const range = document.createRange();
        range.selectNodeContents(nextElementSibling);
        return range.getClientRects().length;
      }).filter((lines) => lines > 1).length`;
      expect(await tab.page.evaluate(brokenWords)).toBe(0);
      await tab.page.evaluate(`${heads}[0].textContent = 'W'.repeat(60)`);
      expect(await tab.page.evaluate(brokenWords)).toBe(0);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    } finally {
      await tab.close();
      server.close();
    }
  });

  for (const [type, target, headline, shown] of checks) {
    itInBrowser(`starts a check of ${type}, shows it live, and to everyone with the link`, async () => {
      const { url } = service!;
      const tab = await browser!.openTab(url);
      await tab.page.goto(`${url}/`);
      await untilText(tab.page, 'measured from 3 probes');
      await tab.page.click(`input[value=${type}]`);
      await tab.page.type('#host', target());
      await tab.page.keyboard.press('Enter');
      await untilTrue(tab.page, `/^\\/c\\/[\\w-]{22}$/.test(location.pathname)`);

      await untilTrue(tab.page, `document.querySelectorAll('[data-probe] .outcome.good').length === 3`);
      await untilTrue(tab.page, `document.querySelector('.verdict-word.good, .verdict-word.warn') !== null`);
      expect(await textOf(tab.page, '.headline')).toContain(headline);
      await untilText(tab.page, shown);
      const link = tab.page.url();
      expect(tab.faults).toEqual([]);
      await tab.close();

      const other = await browser!.openTab(url, 390);
      await other.page.goto(link);
      await untilText(other.page, headline);
      await untilText(other.page, shown);
      await other.page.click('.opener');
      await untilText(other.page, 'Result as JSON');
      expect(other.faults).toEqual([]);
      await other.close();
    });
  }

  itInBrowser('says what the policy refuses, and lists the probes', async () => {
    const { url } = service!;
    const tab = await browser!.openTab(url);
    await tab.page.goto(`${url}/`);
    await untilText(tab.page, 'measured from 3 probes');
    await tab.page.type('#host', '10.0.0.1');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, '10.0.0.0/8');
    await tab.page.evaluate(`document.querySelector('#host').select()`);
    await tab.page.type('#host', '0177.0.0.1');
    await tab.page.keyboard.press('Enter');
    await untilTrue(
      tab.page,
      `document.querySelector('#host').ariaInvalid === 'true' && !document.body.innerText.includes('10.0.0.0/8')`,
    );

    await tab.page.click('a[href="/status"]');
    await untilText(tab.page, 'demo-3');
    expect(await tab.page.evaluate(`document.querySelectorAll('.probe-list > li').length`)).toBe(3);
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
});

/** What `onePartOfEachKind` may remove: ids that occur twice, links to no id, headings that skip a level, columns without a head. */
const faultsOfWholePage = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const ids = all('[id]').map(({ id }) => id);
  const levels = all('h1, h2, h3, h4, h5, h6').map(({ localName }) => Number(localName[1]));
  return [
    ...(new Set(ids).size === ids.length ? [] : ids.filter((id, index) => ids.indexOf(id) !== index)),
    ...all('a[href^="#"]').filter(({ hash }) => !ids.includes(decodeURIComponent(hash.slice(1)))).map(({ hash }) => hash),
    ...levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1).map((level) => 'h' + level),
  ];
})()`;

/**
 * Removes subtrees that contain only kinds of elements that occurred before. The kind of an element is its tag,
 * attributes (classes, roles and states with their values) and whether it has text, and the tag and attributes of its
 * parent: colours and names follow from these. Returns the number of remaining elements.
 */
const onePartOfEachKind = `(() => {
  const isState = /^(?:class|role|type|scope|tabindex|aria-(?:hidden|expanded|current|live))$/;
  const attributeOf = ({ name, value }) => isState.test(name) ? name + '=' + value : name + (value.trim() === '' ? '' : '=');
  const nameOf = (element) => [element.localName, ...[...element.attributes].map(attributeOf)].join();
  const kindOf = (element) => nameOf(element.parentElement) + ' ' + nameOf(element) + (element.textContent.trim() === '');
  const seen = new Set();
  const visit = (element) => {
    if ([element, ...element.querySelectorAll('*')].every((each) => seen.has(kindOf(each)))) return element.remove();
    seen.add(kindOf(element));
    for (const child of [...element.children]) visit(child);
  };
  for (const element of [...document.body.children]) visit(element);
  return document.body.querySelectorAll('*').length;
})()`;
