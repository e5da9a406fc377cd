import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { describe, expect, it } from '@jest/globals';

import { openPage } from './page.ts';

const ask = (acceptEncoding?: string, ifNoneMatch?: string) => ({ acceptEncoding, ifNoneMatch });

describe('the built page', () => {
  const page = openPage('https://vantage.example/net')!;
  const script = page.files.find((path) => /^\/assets\/.*\.js$/.test(path))!;

  it('has a document that names its files below the base address', () => {
    const { status, headers, body } = page.document(ask());

    expect(status).toBe(200);
    expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(headers['Content-Security-Policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers['Cache-Control']).toBe('no-cache');
    const text = body.toString();
    expect(text).toContain('content="https://vantage.example/net"');
    const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      const file = link.replace('/net', '');
      expect(link).toMatch(/^\/net\//);
      if (!/^\/(docs|openapi\.json|probes|me)?$/.test(file)) expect(page.files).toContain(file);
    }
    expect(text).not.toMatch(/<style|style=|<script>|onload=/);
  });

  it('can be installed: its manifest names icons that are there', () => {
    const { headers, body } = page.file('/manifest.webmanifest', ask());
    const { icons, start_url: start } = JSON.parse(body.toString()) as {
      readonly icons: readonly { readonly src: string }[];
      readonly start_url: string;
    };

    expect(headers['Content-Type']).toBe('application/manifest+json');
    expect(page.document(ask()).headers['Content-Security-Policy']).toContain("manifest-src 'self'");
    expect(page.document(ask()).body.toString()).toContain('<link rel="manifest" href="/net/manifest.webmanifest"');
    // Relative URLs also work if the base URL has a path.
    expect(start).toBe('./');
    expect(icons).toHaveLength(2);
    for (const { src } of icons) expect(page.files).toContain(src.slice(1));
  });

  it('links the results of a check for readers without scripts, and nothing that is no check', () => {
    const id = 'qPUXvL1sQx2rGJm0Zf7N4w';
    expect(page.document(ask(), id).body.toString()).toContain(`href="/net/check/${id}/results"`);
    expect(page.document(ask(), '"><script>').body).toEqual(page.document(ask()).body);
  });

  it('names the scripts of a check in its document, and not in others', () => {
    const preloads = (text: string): readonly string[] =>
      [...text.matchAll(/<link rel="modulepreload"[^>]*href="\/net([^"]+)"/g)].map(([, file]) => file!);
    const others = preloads(page.document(ask()).body.toString());
    const added = preloads(page.document(ask(), 'qPUXvL1sQx2rGJm0Zf7N4w').body.toString()).filter(
      (file) => !others.includes(file),
    );

    expect(added.filter((file) => /Check-/.test(file))).toHaveLength(1);
    expect(added.filter((file) => !page.files.includes(file))).toEqual([]);
  });

  it('names the image of a check for previews of its link, with an absolute address', () => {
    const id = 'qPUXvL1sQx2rGJm0Zf7N4w';
    const text = page.document(ask(), id).body.toString();

    expect(text).toContain(`property="og:image" content="https://vantage.example/net/check/${id}/card.png"`);
    expect(text.indexOf('og:image')).toBeLessThan(text.indexOf('</head>'));
    expect(page.document(ask()).body.toString()).not.toContain('og:image');
  });

  it('escapes a base address', () => {
    const odd = openPage('https://vantage.example/a"b&c')!;
    const text = odd.document(ask()).body.toString();
    expect(text).toContain('https://vantage.example/a&quot;b&amp;c');
    expect(text).not.toContain('a"b');
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip;q=1, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['', undefined],
    ['deflate, zstd', undefined],
    [undefined, undefined],
  ])('sends a file as the reader can take it: %s', (accepted, encoding) => {
    const { status, headers, body } = page.file(script, ask(accepted));

    expect(status).toBe(200);
    expect(headers['Content-Encoding']).toBe(encoding);
    expect(headers['Vary']).toBe('Accept-Encoding');
    expect(headers['Cache-Control']).toBe('public, max-age=31536000, immutable');
    const plain = page.file(script, ask()).body;
    const decoded = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
    expect(decoded.equals(plain)).toBe(true);
  });

  it('sends what is known already no second time, each encoding by its own tag', () => {
    const tag = page.document(ask('br')).headers['ETag'];

    expect(page.document(ask('br', `"x", W/${tag}`)).status).toBe(304);
    expect(page.document(ask('gzip', tag)).status).toBe(200);
    expect(page.document(ask('br', tag)).body).toHaveLength(0);
  });

  it('is not there where it has not been built', () => {
    expect(openPage('https://vantage.example', '/nonexistent/')).toBeUndefined();
  });
});
