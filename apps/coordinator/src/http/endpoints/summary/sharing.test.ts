import { execFileSync } from 'node:child_process';
import { inflateSync } from 'node:zlib';

import { afterEach, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { startHttpBed, tcpCheck, type BedOptions, type HttpBed } from '../../../../test/http-bed.ts';
import { CHECK_ID } from '../../../../test/http-fakes.ts';
import { CheckEvicted } from '../../../redis/store-errors.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(check?: Check, options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  if (check !== undefined) bed.stored.set(CHECK_ID, check);
  return bed;
}

const badge = `/check/${CHECK_ID}/badge.svg`;
const card = `/check/${CHECK_ID}/card.png`;
const embed = `/c/${CHECK_ID}/embed`;

/**
 * Parses an SVG with Expat, expects exactly the allowed elements, and returns its texts; throws if it is not
 * well-formed.
 */
function textsOf(svg: string): readonly string[] {
  const program = `import sys, json, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
tags = {e.tag.split('}')[1] for e in root.iter()}
print(json.dumps([sorted(tags), [e.text for e in root.iter('{http://www.w3.org/2000/svg}text')]]))`;
  const [tags, texts] = JSON.parse(execFileSync('python3', ['-c', program], { input: svg, encoding: 'utf8' })) as [
    readonly string[],
    readonly string[],
  ];
  expect(tags).toEqual(['clipPath', 'g', 'rect', 'svg', 'text', 'title']);
  return texts;
}

/** Size of a PNG, and the bytes of its rows: palette indices, and the filter type of each row. */
async function pixelsOf(
  url: string,
): Promise<{ readonly size: readonly number[]; readonly colours: ReadonlySet<number> }> {
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  const at = bytes.indexOf('IDAT');
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
  return { size: [bytes.readUInt32BE(16), bytes.readUInt32BE(20)], colours: new Set(rows) };
}

const failed = { result: 'failure', rt: null, error: { code: 'connection_refused', message: 'refused' }, port: 443 };

/** A completed tcp check of four probes, of which the given ones failed. */
function mixed(...failures: readonly string[]): Check {
  const check = tcpCheck('completed');
  const probes = ['fra-1', 'nyc-1', 'par-1', 'sin-1'];
  const good = check.results['fra-1']!;
  return {
    ...check,
    results: Object.fromEntries(
      probes.map((probe) => [probe, failures.includes(probe) ? { ...good, ...failed } : good]),
    ),
  };
}

describe('the badge of a check', () => {
  it.each([
    ['all answered', mixed(), 'up', 'public, max-age=60'],
    ['some answered', mixed('par-1'), 'partial, 3 of 4', 'public, max-age=60'],
    ['none answered', mixed('fra-1', 'nyc-1', 'par-1', 'sin-1'), 'down', 'public, max-age=60'],
    ['one has answered, whatever it says', tcpCheck('pending'), 'pending, 1 of 2', 'no-store'],
  ])('%s: %s', async (_reason, check, word, cacheControl) => {
    const { ask } = await start(check);

    const { status, headers, text } = await ask(badge);

    expect(textsOf(text)).toEqual([`tcp Example.com:443`, word]);
    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('image/svg+xml');
    expect(headers.get('Cache-Control')).toBe(cacheControl);
    expect(headers.get('X-Robots-Tag')).toBe('noindex');
    expect(headers.get('ETag')).not.toBeNull();
  });

  it.each([
    ['markup', `https://a.example/?<b onload=1>&"'`, `http https://a.example/?<b onload=1>&"'`],
    [
      'a long name',
      `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example.com`,
      /^http a{18}…c{12}\.example\.com$/,
    ],
    ['letters of the right', 'שלום.example', 'http שלום.example'],
    ['signs that turn the direction', 'a\u{202e}moc.elpmaxe', String.raw`http a\u{202e}moc.elpmaxe`],
    ['what XML cannot have', 'a\u{0}\u{1b}\u{ffff}\u{d800}b', String.raw`http a\u{0}\u{1b}\u{ffff}\u{d800}b`],
    ['an IPv6 address', '2001:db8::1', 'http 2001:db8::1'],
  ])('keeps text in its place: %s', async (_reason, host, label) => {
    const { ask } = await start({ ...tcpCheck('completed'), type: 'http', host, results: {} });

    const [shown] = textsOf((await ask(badge)).text);

    if (typeof label === 'string') expect(shown).toBe(label);
    else expect(shown).toMatch(/^http a+….*\.example\.com$/);
  });

  it('is not sent to a client that has it', async () => {
    const { ask } = await start(mixed());
    const tag = (await ask(badge)).headers.get('ETag')!;

    expect((await ask(badge, { headers: { 'If-None-Match': tag } })).status).toBe(304);
  });
});

describe('badge, card and embed of a check that is not there', () => {
  it.each([
    ['unknown', undefined, 404, 'not found', 'no check with this id'],
    ['removed', 'Its results were removed before their time.', 410, 'removed', 'removed before their time'],
  ])('say so: %s', async (_name, reason, status, word, sentence) => {
    const read = async (): Promise<undefined> => {
      if (reason !== undefined) throw new CheckEvicted(reason);
      return undefined;
    };
    const { ask, url } = await start(undefined, { checks: { read } });

    const [shownBadge, shownEmbed, shownCard] = [await ask(badge), await ask(embed), await ask(card)];

    expect([shownBadge.status, shownEmbed.status, shownCard.status]).toEqual([status, status, status]);
    for (const { headers } of [shownBadge, shownEmbed, shownCard])
      expect(headers.get('Cache-Control')).toBe('no-store');
    // RFC 9110 section 13.2.1: only what would be 200 without a condition can be 304 with it.
    for (const path of [badge, embed, card]) {
      const tag = (await ask(path)).headers.get('ETag') ?? '*';
      expect((await ask(path, { headers: { 'If-None-Match': tag } })).status).toBe(status);
    }
    expect(textsOf(shownBadge.text)).toEqual(['check', word]);
    expect(shownEmbed.text).toContain(sentence);
    expect(shownEmbed.text).not.toContain(CHECK_ID);
    expect((await pixelsOf(url + card)).size).toEqual([1200, 630]);
  });
});

describe('the card of a check', () => {
  it('has the colour of the verdict', async () => {
    const { ask, url, stored } = await start(mixed());
    const { status, headers } = await ask(card);
    const up = await pixelsOf(url + card);
    stored.set(CHECK_ID, mixed('fra-1', 'nyc-1', 'par-1', 'sin-1'));
    const down = await pixelsOf(url + card);

    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('image/png');
    expect(headers.get('Cache-Control')).toBe('public, max-age=60');
    expect([up.size, down.size]).toEqual([
      [1200, 630],
      [1200, 630],
    ]);
    // Palette indices of the full `good` and `bad`: of each colour, in the order ink, dim, good, warn, bad, neutral,
    // there are 16 levels, the full one last.
    const [good, bad] = [2 * 16 + 15, 4 * 16 + 15];
    expect([up.colours.has(good), up.colours.has(bad)]).toEqual([true, false]);
    expect([down.colours.has(good), down.colours.has(bad)]).toEqual([false, true]);
  });

  it('waits some seconds for a check that is pending', async () => {
    const waits: number[] = [];
    const read = async (_id: string, waitMs: number): Promise<Check> => {
      waits.push(waitMs);
      return tcpCheck('pending');
    };
    const { ask } = await start(undefined, { checks: { read } });

    const { headers } = await ask(card);
    await ask(badge);

    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(waits).toEqual([4_000, 0]);
  });
});

describe('the embed of a check', () => {
  it('may be framed, and has no script', async () => {
    const { ask } = await start(mixed('par-1'));

    const { status, headers, text } = await ask(embed);
    const page = await ask(`/c/${CHECK_ID}`);

    const policy = headers.get('Content-Security-Policy');
    expect(status).toBe(200);
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; .*frame-ancestors \*$/);
    expect(page.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('Refresh')).toBeNull();
    expect(text).toContain('name="robots" content="noindex"');
    expect(text).not.toMatch(/<script| on\w+=/);
    expect(text).toContain('connection refused');
    // Failed probes come first.
    expect(text.indexOf('par-1')).toBeLessThan(text.indexOf('fra-1'));
    expect(text.indexOf('par-1')).toBeGreaterThan(0);
  });

  it('has the rows of a table of the page: its order of outcomes and names, and its colours', async () => {
    const [success] = Object.values(mixed().results);
    const withError = (result: string, code: string, phase = 'connect', source = 'target'): object => ({
      ...success,
      result,
      rt: null,
      error: { code, phase, source, message: 'No.' },
    });
    const results = {
      'r-10': withError('timeout', 'timed_out'),
      'r-9': withError('timeout', 'probe_timeout', 'dispatch', 'probe'),
      'r-2': withError('error', 'probe_offline', 'dispatch', 'probe'),
      'r-11': success,
      'r-3': withError('failure', 'connection_refused'),
      'r-4': withError('failure', 'dns_resolver_unreachable'),
      'r-5': withError('failure', 'dns_refused', 'resolve', 'resolver'),
    };
    const { ask } = await start({ ...mixed(), results } as Check);

    const { text } = await ask(embed);

    const rows = [...text.matchAll(/<th scope="row">\s*(\S+)\s*<\/th>\s*<td class="(\w+)">([^<]+)</g)];
    expect(rows.map(([, ...cells]) => cells)).toEqual([
      ['r-3', 'bad', 'connection refused'],
      ['r-10', 'warn', 'timed out'],
      ['r-2', 'neutral', 'not measured'],
      ['r-4', 'neutral', 'dns resolver unreachable'],
      ['r-5', 'neutral', 'dns refused'],
      ['r-9', 'neutral', 'probe timeout'],
      ['r-11', 'good', 'success'],
    ]);
  });

  it('loads itself again while the check is pending', async () => {
    const { ask } = await start(tcpCheck('pending'));

    expect((await ask(embed)).headers.get('Refresh')).toBe('10');
  });

  it('escapes what others wrote', async () => {
    const host = `https://a.example/?<img src=x onerror=alert(1)>&"'`;
    const { ask } = await start({ ...tcpCheck('completed'), type: 'http', host });

    const { text } = await ask(embed);
    expect(text).toContain('?&lt;img src=x onerror=alert(1)');
    expect(text).not.toContain('<img');
  });
});
