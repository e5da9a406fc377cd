import { execFile } from 'node:child_process';

import { describe, expect } from '@jest/globals';
import type { Finding, Summary } from '@vantage/contract';

import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';
import { asMarkdown } from '../src/check/copies.ts';
import type { CheckData } from '../src/check/use-check.ts';

/** `it` for tests that need cmark-gfm, GitHub's renderer. */
const itWithRenderer = itNeeding(await packagesMissing(['cmark-gfm']), process.env['CI']);

async function render(markdown: string): Promise<string> {
  const packages = await unpackPackages('cmark-gfm');
  const names = ['table', 'strikethrough', 'autolink', 'tagfilter', 'tasklist', 'footnotes'];
  const extensions = names.flatMap((name) => ['-e', name]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile(packages.program('cmark-gfm'), extensions, { env: packages.environment }, (error, stdout) => {
    if (error === null) resolve(stdout);
    else reject(error);
  });
  child.stdin?.end(markdown);
  return promise;
}

const check = (host: string, address: string): CheckData => ({
  testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
  type: 'http',
  host,
  status: 'completed',
  createdAt: '2026-11-21T01:00:00.000Z',
  completedAt: '2026-11-21T01:00:01.000Z',
  results: { 'fra-2': { result: 'success', rt: 12.5, resolvedIp: address, error: null } },
});

const summary = (text: string): Summary =>
  ({ status: 'completed', headline: text, findings: [{ severity: 'info', text } as Finding] }) as unknown as Summary;

const linksIn = (html: string): string[] => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!);

const service = 'https://vantage.example/net';
const own = `${service}/c/qPUXvL1sQx2rGJm0Zf7N4w`;

describe('the Markdown of a check, as GitHub renders it', () => {
  for (const url of [
    'https://example.com/a_b_c?x=1&y=*',
    'https://example.com/*a*/~~b~~/[c](d)?e=%20|f&copy=1#g_h_',
    "https://example.com/(it's)$x!",
  ]) {
    itWithRenderer(`links to what was checked, whatever is in its address: ${url}`, async () => {
      const html = await render(asMarkdown(check(url, '192.0.2.1'), summary('Fine.'), service));

      const [first, ...others] = linksIn(html);
      const written = first!.replaceAll('&amp;', '&').replaceAll('&#x27;', "'");
      expect(decodeURI(written)).toBe(decodeURI(url));
      expect(others).toEqual([own]);
    });
  }

  for (const text of [
    'see http://evil.example/x_y_z now',
    'www.evil.example, (www.evil.example) and WWW.evil.example',
    'https://evil.example/`a`b``c',
    'HTTP://EVIL.EXAMPLE ftp://evil.example mailto:a@evil.example a.b@evil.example',
    '@somebody and @org/team, #12 and org/repo#12 and GH-12',
    '~~gone~~ *a* _b_ **c** `d` <b>e</b> <!-- f --> &lt;g&gt; $h$',
    '[a](https://evil.example) ![b](//evil.example/c.png) [d]: e [^1] <https://evil.example>',
    '| a | b `|` c \\| d \\',
  ]) {
    itWithRenderer(`has no link and no markup by what strangers wrote: ${text}`, async () => {
      const html = await render(asMarkdown(check('example.com', text), summary(text), service));

      expect(linksIn(html)).toEqual([own]);
      expect(html).not.toMatch(/<(?:img|del|em|b|h\d|sup|section)\b|<!--/);
      const shown = html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&');
      expect(shown.split('\n')[0]).toBe(`http example.com: ${text}`);
      const cells = [...html.matchAll(/<td>(.*?)<\/td>/g)];
      expect(cells).toHaveLength([...html.matchAll(/<th>/g)].length);
      expect(shown.split('\n').filter((line) => line === text)).toHaveLength(1);
    });
  }
});
