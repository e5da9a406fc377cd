import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';

import { axeViolations } from './axe.ts';
import { here, textOf, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { worldChecks } from './world.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

const idOf = (type: string): string => worldChecks.find((check) => check.type === type)!.testId;

describe('checks and mistakes on the page', () => {
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
    showcase.reset();
    if (browser !== undefined) tab = await browser.openTab(showcase.url);
  });
  afterEach(async () => tab?.close());

  async function open(path: string, text: string): Promise<void> {
    await tab.page.goto(`${showcase.url}${path}`);
    await untilText(tab.page, text);
  }
  /** Opens an address of the page without a load, as its links do: a load takes several times the CPU time. */
  const follow = (path: string): Promise<unknown> =>
    tab.page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)});
      dispatchEvent(new PopStateEvent('popstate'));`);
  const press = (text: string): Promise<unknown> =>
    tab.page.evaluate(`[...document.querySelectorAll('button, a')].find((e) => e.innerText === '${text}').click()`);

  itInBrowser('have names with port and record type, in heading, title and list', async () => {
    for (const [type, name] of [
      ['tcp', 'tcp db.example.com:5432'],
      ['dns', 'dns A www.example.com'],
    ] as const) {
      await open(`/c/${idOf(type)}`, 'probes agree');
      expect(await tab.page.evaluate(`document.querySelector('h1').innerText`)).toBe(name);
      expect(await tab.page.title()).toBe(`${name} · Vantage`);
    }
    const dns = worldChecks.find(({ type }) => type === 'dns')!;
    for (const [request, name] of [
      [{ recordType: 'mx' }, 'dns MX www.example.com'],
      [{}, 'dns A www.example.com'],
    ] as const) {
      showcase.checks.set(dns.testId, { ...dns, request });
      await open(`/c/${dns.testId}`, 'probes agree');
      expect(await tab.page.evaluate(`document.querySelector('h1').innerText`)).toBe(name);
    }
    await open('/', 'measured from 10 of 12 probes');

    const listed = String(await tab.page.evaluate(`document.querySelector('.recent ul').innerText`));
    expect(listed).toContain('db.example.com:5432');
    expect(listed).toContain('dns A');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('fill the form from a link, and again from the list', async () => {
    await open('/?type=tcp&host=www.example.com&port=443', 'measured from 10 of 12 probes');
    expect(await tab.page.evaluate(`document.querySelector('[data-field=port]').value`)).toBe('443');
    await open('/?type=ping&host=www.example.com&options.count=8&limit=3&unknown=1', 'measured from 3 of 12 probes');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');
    const request = { type: 'ping', host: 'www.example.com', limit: 3, options: { count: 8, endWithStream: true } };
    expect(showcase.posted).toEqual([request]);

    await open('/', 'measured from 10 of 12 probes');
    await press('Again');
    await untilTrue(tab.page, `document.querySelector('#host').value === 'www.example.com'`);
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([request, request]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser(
    'are in the address as they are typed, for a reload and for others, without an entry in the history',
    async () => {
      const search = (expected: string): Promise<void> =>
        untilTrue(tab.page, `decodeURIComponent(location.search) === ${JSON.stringify(expected)}`);
      await open('/', 'measured from 10 of 12 probes');
      const entries = Number(await tab.page.evaluate('history.length'));
      await tab.page.type('#host', 'www.example.com');
      await search('?type=ping&host=www.example.com');
      await tab.page.click('input[value=tcp]');
      await tab.page.type('[data-field=port]', '8443');
      await search('?type=tcp&host=www.example.com&port=8443');
      await tab.page.reload();
      await untilTrue(tab.page, `document.querySelector('[data-field=port]')?.value === '8443'`);
      expect(await tab.page.evaluate(`document.querySelector('#host').value`)).toBe('www.example.com');
      expect(await tab.page.evaluate('history.length')).toBe(entries);

      // A header may contain a password, and so may the part before “@”.
      await tab.page.click('input[value=http]');
      await press('Options');
      await tab.page.type('[data-field="options.headers"]', 'Authorization: secret');
      await tab.page.click('[data-field="options.screenshot"]');
      await search('?type=http&host=www.example.com&options.screenshot=false');
      await tab.page.focus('#host');
      await tab.page.keyboard.press('Home');
      await tab.page.keyboard.type('me:secret@');
      await search('?type=http&options.screenshot=false');
      // The link “To the content” moves the focus, and keeps the value of the field.
      await tab.page.evaluate(`document.querySelector('.skip').click()`);
      expect(await tab.page.evaluate(`document.querySelector('#host').value`)).toBe('me:secret@www.example.com');

      await tab.page.click('a.brand');
      await search('');
      await untilTrue(tab.page, `document.querySelector('#host').value === ''`);
      await tab.page.goBack();
      await untilTrue(tab.page, `document.querySelector('input[value=http]').checked`);
      expect(tab.faults).toEqual([]);
    },
  );

  itInBrowser('say what a link asks for that the page does not know', async () => {
    await open('/?type=ping&from=NL', 'measured from');
    for (const [query, note] of [
      ['type=smtp&host=www.example.com', 'The link is for a check of the type “smtp”, which does not exist.'],
      [
        'type=smtp&from=DE&utm_source=x',
        'The link is for a check of the type “smtp”, which does not exist. The link has “from”, which a ping check does not have: it is left out.',
      ],
      ['type=ping&from=DE%2CJP', 'The link has “from”, which a ping check does not have: it is left out.'],
      [
        'port=1&from=DE&a=1',
        'The link has “port”, “from” and “a”, which a ping check does not have: they are left out.',
      ],
      ['type=tcp&port=1', ''],
      ['utm_source=x&utm_medium=mail&fbclid=1', ''],
    ] as const) {
      await follow(`/?${query}`);
      await untilTrue(tab.page, `document.querySelector('#host-error').innerText === ${JSON.stringify(note)}`);
    }
    // The same after a load.
    await open('/?from=DE', 'measured from');
    const note = 'The link has “from”, which a ping check does not have: it is left out.';
    expect(await textOf(tab.page, '#host-error')).toBe(note);
    await tab.page.type('#host', 'www.example.com');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([{ type: 'ping', host: 'www.example.com' }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('are mended by a button', async () => {
    await open('/', 'measured from 10 of 12 probes');
    await tab.page.type('#host', 'www.example.com:443');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'A ping check has no port.');
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(showcase.posted).toEqual([]);

    await press('TCP www.example.com, port 443');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([{ type: 'tcp', host: 'www.example.com', port: 443 }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('go to the service if the code that knows mistakes cannot be loaded', async () => {
    await open('/', 'measured from 10 of 12 probes');
    tab.spend();
    await tab.clearCache();
    await tab.page.setRequestInterception(true);
    tab.page.on('request', (request) => void (/mistakes-/.test(request.url()) ? request.abort() : request.continue()));
    await tab.page.type('#host', 'www.example.com:443');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');

    expect(showcase.posted).toEqual([{ type: 'ping', host: 'www.example.com' }]);
  });

  itInBrowser('are mended with the record type that was typed', async () => {
    await open('/', 'measured from 10 of 12 probes');
    await tab.page.type('#host', 'dig MX www.example.com');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'A host name contains no blanks.');

    await press('DNS MX www.example.com');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([{ type: 'dns', host: 'www.example.com', recordType: 'MX' }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('are mended where the port or the type contradicts the host', async () => {
    await open('/?type=tcp&host=www.example.com:29008&port=443', 'measured from 10 of 12 probes');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'Two ports were given: 29008 behind the host, and 443.');
    expect(await axeViolations(tab.page)).toEqual([]);
    await press('TCP www.example.com, port 29008');
    await untilText(tab.page, 'probes agree');

    await open('/?type=dns&host=198.51.100.7', 'measured from 10 of 12 probes');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, '198.51.100.7 is an address, which has PTR records only.');
    await press('DNS PTR 198.51.100.7');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([
      { type: 'tcp', host: 'www.example.com', port: 29_008 },
      { type: 'dns', host: '198.51.100.7', recordType: 'PTR' },
    ]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('name what is wrong with an odd host, without a request', async () => {
    await open('/', 'measured from 10 of 12 probes');
    for (const [type, host, message, fix] of [
      ['ping', '192.168.1.1/24', 'is a network. A check measures one address.', 'Ping 192.168.1.1'],
      ['ping', 'ping example.com:443', 'A ping check has no port.', 'TCP example.com, port 443,Ping example.com'],
      ['ping', 'ping http://192.0.2.1:80/', 'no blanks', 'HTTP http://192.0.2.1:80/,Ping 192.0.2.1'],
      ['dns', '192.0.2.1 MX', 'no blanks', 'DNS PTR 192.0.2.1,Info 192.0.2.1'],
      ['traceroute', '192.0.2.1, 192.0.2.2', 'no blanks', 'Traceroute 192.0.2.1,Traceroute 192.0.2.2'],
      ['ping', '１９２.０.２.１', 'only looks like 192.0.2.1', 'Ping 192.0.2.1'],
      ['http', 'me@host.example:80', 'A user name or password', 'HTTP http://host.example:80'],
      ['ping', '127.1', 'An IPv4 address is written as four decimal numbers.', 'Ping 127.0.0.1'],
      ['http', 'user:pass@host.example', 'A user name or password', 'HTTP https://host.example'],
      ['ping', '<b>x</b>', '“<” is part of no host name.', ''],
    ] as const) {
      await follow(`/?${new URLSearchParams({ type, host }).toString()}`);
      await untilTrue(tab.page, `document.querySelector('#host').value === ${JSON.stringify(host)}`);
      await untilTrue(tab.page, `document.querySelector('.fixes') === null`);
      await tab.page.focus('#host');
      await tab.page.keyboard.press('Enter');
      await untilText(tab.page, message);
      const fixes = `[...document.querySelectorAll('.fixes button')].map((e) => e.innerText).join()`;
      expect([host, await tab.page.evaluate(fixes)]).toEqual([host, fix]);
    }
    expect(showcase.posted).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('run from the probes that were chosen on the map', async () => {
    await open('/', 'measured from 10 of 12 probes');
    const pin = (id: string): Promise<unknown> =>
      tab.page.evaluate(`document.querySelector('.pin[title^="${id}"]').click()`);
    await pin('Tokyo 1');
    await pin('Madrid 1');
    await pin('Mumbai 1');
    await pin('Tokyo 1');
    await untilText(tab.page, 'From mad-1, bom-1');
    await untilText(tab.page, 'measured from 2 chosen probes');
    await untilTrue(tab.page, `new URLSearchParams(location.search).get('probes') === 'mad-1, bom-1'`);
    await tab.page.reload();
    await untilText(tab.page, 'From mad-1, bom-1');
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.page.type('#host', 'www.example.com');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');

    expect(showcase.posted).toEqual([{ type: 'ping', host: 'www.example.com', probes: ['mad-1', 'bom-1'] }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('say from which probes they run as the link and the options select them', async () => {
    const lead = `document.querySelector('.lead').innerText`;
    await open('/?type=ping&limit=2', 'measured from 2 of 12 probes');
    for (const [query, text] of [
      ['', '10 of 12 probes at once, across networks and countries. The map and the options choose others.'],
      ['limit=3', '3 of 12 probes at once, across networks and countries. The map and the options choose others.'],
      ['limit=1', 'one of 12 probes. The map and the options choose others.'],
      ['limit=50', '12 probes at once.'],
      ['limit=many', '10 of 12 probes at once, across networks and countries. The map and the options choose others.'],
      ['locations=US', 'up to 10 of the probes that match the options, at once.'],
      ['locations=US&limit=1', 'one of the probes that match the options.'],
      ['probes=mad-1,bom-1,nrt-1&limit=2', '3 chosen probes at once.'],
    ] as const) {
      await follow(`/?type=ping&${query}`);
      await untilTrue(tab.page, `${lead} === ${JSON.stringify(`One check, measured from ${text}`)}`);
    }
    await tab.page.evaluate(`document.querySelector('.pin[title^="Madrid 1"]').click()`);
    await untilText(tab.page, 'From bom-1, nrt-1');
    await untilTrue(tab.page, `${lead} === 'One check, measured from 2 chosen probes at once.'`);
    await press('Options · 2');
    await untilTrue(tab.page, `document.querySelector('[data-field=probes]').value === 'bom-1, nrt-1'`);
    await tab.page.type('[data-field=probes]', ', mad-1');
    await untilText(tab.page, 'From bom-1, nrt-1, mad-1');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('count the answers of dns once, and say what the probes agree about', async () => {
    await open(`/c/${idOf('dns')}`, 'probes agree that the name exists');
    const text = String(await tab.page.evaluate(`document.querySelector('main').innerText`));

    expect(text).toContain('There are 2 different sets of records: ');
    expect(text).toContain('Different answers');
    expect(text).not.toMatch(/\d different answers/);
    await open(`/c/${idOf('info')}`, 'has different addresses for different probes');
    await untilText(tab.page, '13 of 13 probes agree that the host can be looked up');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('of a pair of probes are measured from these two alone', async () => {
    const lead = (text: string): Promise<void> =>
      untilTrue(tab.page, `document.querySelector('.lead').innerText === 'One check, measured ${text}'`);
    await open('/?type=traceroute&host=fra-1%20%3C-%3E%20nyc-1', 'One check');
    await lead('between two probes, from each to the other.');
    await tab.page.type('#host', 'x');
    await lead('between two probes, from each to the other.');
    await tab.page.type('#host', '.example');
    await untilText(tab.page, 'measured from 10 of 12 probes');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('run from places or from probes, whichever was chosen last', async () => {
    const fields = (locations: string, probes: string): Promise<void> =>
      untilTrue(
        tab.page,
        `['locations', 'probes'].map((name) => document.querySelector('[data-field=' + name + ']').value).join('; ') ===
          '${locations}; ${probes}'`,
      );
    await open('/?type=ping&host=www.example.com&locations=US', 'measured from up to 10');
    await tab.page.evaluate(`document.querySelector('.pin[title^="Madrid 1"]').click()`);
    await untilText(tab.page, 'measured from one chosen probe.');
    await press('Options · 1');
    await fields('', 'mad-1');
    await untilText(tab.page, '11 countries');
    await tab.page.evaluate(`for (const details of document.querySelectorAll('.places details')) details.open = true`);
    await press('United States 2');
    await fields('US', '');
    await tab.page.type('[data-field=probes]', 'fra-1');
    await fields('', 'fra-1');
    await tab.page.type('[data-field=locations]', 'europe');
    await fields('europe', '');
    await tab.page.evaluate(`document.querySelector('.pin[title^="Madrid 1"]').click()`);
    await fields('', 'mad-1');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');

    expect(showcase.posted).toEqual([{ type: 'ping', host: 'www.example.com', probes: ['mad-1'] }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('run from countries, networks and tags, each with its number of probes', async () => {
    await open('/?type=ping&host=www.example.com', 'measured from 10 of 12 probes');
    await press('Options');
    await untilText(tab.page, '11 countries');
    expect(await textOf(tab.page, '[data-field="options.count"] ~ .hint')).toBe('Packets to send.');
    await tab.page.evaluate(`for (const details of document.querySelectorAll('.places details')) details.open = true`);
    await press('United States 2');
    await press('europe 5');
    await untilTrue(tab.page, `document.querySelector('[data-field=locations]').value === 'US, europe'`);
    expect(await axeViolations(tab.page)).toEqual([]);
    await press('United States 2');
    await untilTrue(tab.page, `document.querySelector('[data-field=locations]').value === 'europe'`);
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');

    expect(showcase.posted).toEqual([{ type: 'ping', host: 'www.example.com', locations: ['europe'] }]);
  });

  itInBrowser('run from a group that was saved, removed again, or linked', async () => {
    await open('/?type=ping&host=www.example.com&locations=US', 'measured from up to 10 of the probes that match');
    await press('Options · 1');
    await untilTrue(tab.page, `document.querySelector('.saved-groups input') !== null`);
    const words = (await tab.page.evaluate(
      `[...document.querySelectorAll('#list-locations option')].map((e) => e.value + ' ' + e.label)`,
    )) as string[];
    expect(words).toContain('US United States: 2 probes');
    await tab.page.type('[data-field=locations]', ', eu');
    await untilTrue(
      tab.page,
      `[...document.querySelectorAll('#list-locations option')].some((e) => e.value === 'US, europe')`,
    );
    await tab.page.keyboard.type('rope');
    await tab.page.type('.saved-groups input', 'Both sides');
    await tab.page.keyboard.press('Enter');
    expect(showcase.posted).toEqual([]);
    await untilText(tab.page, 'Remove Both sides');
    expect(await axeViolations(tab.page)).toEqual([]);

    await open('/?type=tcp&host=www.example.com&port=443', 'measured from 10 of 12 probes');
    await press('Options');
    await untilText(tab.page, 'Both sides');
    await press('Both sides');
    await untilTrue(tab.page, `document.querySelector('[data-field=locations]').value === 'US, europe'`);
    expect(await tab.page.evaluate(`document.querySelector('.saved-groups a').getAttribute('href')`)).toBe(
      '/?type=tcp&locations=US%2C+europe',
    );
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([expect.objectContaining({ type: 'tcp', locations: ['US', 'europe'] })]);

    await open('/', 'measured from 10 of 12 probes');
    await press('Options');
    await untilText(tab.page, 'Both sides');
    await press('Both sides');
    await press('Remove Both sides');
    await untilTrue(tab.page, `!document.body.innerText.includes('Both sides')`);
    expect(await tab.page.evaluate(`localStorage.getItem('vantage.groups')`)).toBe('[]');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('have addresses on one line, and groups with long names, on a small phone', async () => {
    const name = 'W'.repeat(40);
    const group = [{ name, values: { locations: 'europe' } }];
    await tab.atStart(`localStorage.setItem('vantage.groups', ${JSON.stringify(JSON.stringify(group))})`);
    await tab.page.setViewport({ width: 320, height: 800 });
    await open('/?type=ping&locations=europe', 'measured from');
    await press('Options · 1');
    await untilText(tab.page, `Remove ${name}`);
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(320);

    for (const type of ['tcp', 'info']) {
      const check = worldChecks.find((one) => one.type === type)!;
      const text = JSON.stringify(check).replaceAll(
        /"(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d+"/g,
        '"198.51.100.200"',
      );
      showcase.checks.set(check.testId, JSON.parse(text) as typeof check);
      await open(`/c/${check.testId}`, 'probes agree');
      await untilTrue(tab.page, `document.querySelector('table:not([aria-busy]) [data-probe]') !== null`);
      for (const width of [390, 320]) {
        await tab.page.setViewport({ width, height: 800 });
        const lines = `[...document.querySelectorAll('.probes-table td')].filter((e) => e.innerText === '198.51.100.200' && e.checkVisibility())
          .map((e) => { const range = document.createRange(); range.selectNodeContents(e); return new Set([...range.getClientRects()].map((r) => r.top)).size; })`;
        const counts = (await tab.page.evaluate(lines)) as readonly number[];
        expect([type, width, new Set(counts)]).toEqual([type, width, new Set([1])]);
        expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('break after a dot or at a space in the table of a phone, and keep apart', async () => {
    const check = worldChecks.find(({ type }) => type === 'dns')!;
    await open(`/c/${check.testId}`, 'probes agree');
    await untilTrue(tab.page, `document.querySelector('table:not([aria-busy]) [data-probe]') !== null`);
    for (const width of [390, 360]) {
      await tab.page.setViewport({ width, height: 800 });
      const cells = `[...document.querySelectorAll('.probes-table .row')].map((row) =>
        [...row.querySelectorAll('td')].slice(1).filter((e) => e.checkVisibility()).map((cell) => {
          const lines = [...cell.childNodes].filter((node) => node.nodeType === 3).flatMap((node) =>
            [...node.data.matchAll(/[^ ]+/g)].map((word) => {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              return [...range.getClientRects()];
            }));
          const right = Math.max(...lines.flat().map((one) => one.right));
          const next = cell.nextElementSibling?.getBoundingClientRect();
          const top = cell.getBoundingClientRect().top;
          const isBeside = next !== undefined && next.width > 0 && Math.abs(next.top - top) < 2;
          return [cell.innerText, lines.every((rects) => rects.length === 1), !isBeside || right + 6 <= next.left];
        }))`;
      const shown = (await tab.page.evaluate(cells)) as readonly (readonly [string, boolean, boolean][])[];
      expect(shown.flat().filter(([text]) => text.includes('edge.example.net.')).length).toBeGreaterThan(5);
      // Only texts with a dot count: a code such as NXDOMAIN may break if it does not fit.
      expect(shown.flat().filter(([text, isWhole]) => text.includes('.') && !isWhole)).toEqual([]);
      expect(shown.flat().filter(([, , isApart]) => !isApart)).toEqual([]);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('count answers and addresses, not probes that got none', async () => {
    const error = { code: 'probe_timeout', phase: 'exec', source: 'probe', message: 'It did not answer in time.' };
    for (const [type, title] of [
      ['info', 'About this address'],
      ['dns', 'Answer'],
    ] as const) {
      const check = worldChecks.find((one) => one.type === type)!;
      const [first, second, third] = Object.keys(check.results) as [string, string, string];
      const result = Object.values(check.results).find((one) => one['result'] === 'success')!;
      const none = { result: 'error', rt: null, resolvedIp: null, error, startedAt: null };
      showcase.checks.set(check.testId, { ...check, results: { [first]: result, [second]: result, [third]: none } });
      await open(`/c/${check.testId}`, 'probes agree');
      await untilText(tab.page, 'The same for 2 probes');
      expect(await tab.page.evaluate(`document.querySelector('.${type}-view h2').innerText`)).toBe(title);
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('count addresses, not what was found about them', async () => {
    const check = worldChecks.find(({ type }) => type === 'info')!;
    const [ids, first] = [Object.keys(check.results), Object.values(check.results)[0]!];
    const found = [
      {},
      { hostname: 'EDGE-fra.example.net' },
      { hostname: 'other.example.net' },
      { hostnameVerified: false },
      { addresses: ['192.0.2.80', '192.0.2.81'] },
      { addresses: ['192.0.2.81', '192.0.2.80'] },
    ].map((fields, index) => [ids[index], { ...first, ...fields }]);
    showcase.checks.set(check.testId, { ...check, results: Object.fromEntries(found) });
    await open(`/c/${check.testId}`, 'Not all probes found the same');

    expect(await tab.page.evaluate(`document.querySelector('.info-view h2').innerText`)).toBe('About this address');
    const cards = `[...document.querySelectorAll('.info-view .address')].map((card) => card.querySelectorAll('.chip').length)`;
    expect(await tab.page.evaluate(cards)).toEqual([2, 2, 1, 1]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('name the probes that were not asked', async () => {
    const [check] = worldChecks;
    const results = Object.fromEntries(
      Object.entries(check!.results).slice(0, 3),
    ) as (typeof worldChecks)[number]['results'];
    showcase.checks.set(check!.testId, { ...check!, results });
    await open(`/c/${check!.testId}`, '9 probes were not asked');
    await tab.page.click('.not-asked summary');
    await untilText(tab.page, 'nrt-1 (Tokyo, Japan)');
    expect(await axeViolations(tab.page)).toEqual([]);
    await press('Check from 9 other probes');

    await untilTrue(tab.page, `document.querySelector('#host')?.value === 'www.example.com'`);
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([
      expect.objectContaining({ type: 'ping', limit: 9, probes: expect.arrayContaining(['nrt-1']) }),
    ]);
  });

  itInBrowser('are compared with the check of the same target before', async () => {
    const trace = worldChecks.find(({ type }) => type === 'traceroute')!;
    for (const testId of ['earlier', 'later']) showcase.checks.set(testId, { ...trace, testId });
    const kept = ['later', 'between', 'earlier'].map((id) => ({
      id,
      type: id === 'between' ? 'ping' : 'traceroute',
      host: trace.host,
      at: trace.createdAt,
    }));
    await tab.atStart(`localStorage.setItem('vantage.recent', ${JSON.stringify(JSON.stringify(kept))})`);
    await open('/', 'Compare');
    expect(await tab.page.evaluate(`document.querySelectorAll('.recent li').length`)).toBe(3);
    expect(await axeViolations(tab.page)).toEqual([]);
    await press('Compare');

    await untilTrue(tab.page, `location.pathname === '/c/earlier/compare/later'`);
    await untilText(tab.page, 'Nothing differs beyond noise');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('have room for their whole target, port included', async () => {
    const kept = ['later', 'earlier'].map((id) => ({
      id,
      type: 'tcp',
      host: 'database.eu-central.example.com',
      at: '2026-11-20T21:00:00Z',
      verdict: 'degraded',
      request: { type: 'tcp', host: 'database.eu-central.example.com', port: 15_432 },
    }));
    await tab.atStart(`localStorage.setItem('vantage.recent', ${JSON.stringify(JSON.stringify(kept))})`);
    await open('/', 'Compare');
    for (const width of [1280, 390]) {
      await tab.page.setViewport({ width, height: 900 });
      const cut = `[...document.querySelectorAll('.recent .target')].map((e) =>
        [e.innerText, e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1])`;
      const whole = ['database.eu-central.example.com:15432', false];
      expect([width, await tab.page.evaluate(cut)]).toEqual([width, [whole, whole]]);
    }
  });

  itInBrowser('are forgotten in every tab', async () => {
    await open('/', 'The checks that you start');
    const { checks } = showcase;
    const other = await tab.page.browserContext().newPage();
    await other.goto(`${showcase.url}/c/${[...checks.keys()][0]!}`);
    await untilText(tab.page, 'Forget all');
    await other.goto(showcase.url);
    await untilText(other, 'Forget all');
    await other.evaluate(`document.querySelector('.recent .card-head button').click()`);

    await untilText(tab.page, 'The checks that you start');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('are found among many', async () => {
    await tab.atStart(`localStorage['vantage.recent'] ??= JSON.stringify(
      Array.from({ length: 30 }, (_, n) => ({ id: 'recent_' + n, type: 'ping', host: 'h' + n + '.example', at: '2026-11-20T21:00:00Z' })))`);
    await open('/', 'h7.example');
    expect(await tab.page.evaluate(`document.querySelectorAll('.recent li').length`)).toBe(8);
    // The service does not know these checks: the page asks once about each of the eight that it lists.
    await untilTrue(tab.page, `document.querySelector('.recent ul').innerText.match(/\\bgone\\b/g)?.length === 8`);
    await tab.page.reload();
    await untilText(tab.page, 'h7.example');
    expect(showcase.asked.filter((path) => path.endsWith('/summary')).toSorted()).toEqual(
      Array.from({ length: 8 }, (_, n) => `/check/recent_${n}/summary`),
    );
    await tab.page.type('.recent input', 'h23');

    await untilTrue(tab.page, `document.querySelectorAll('.recent li').length === 1`);
    expect(await axeViolations(tab.page)).toEqual([]);
  });
});
