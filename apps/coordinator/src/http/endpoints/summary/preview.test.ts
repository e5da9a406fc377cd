import { afterEach, describe, expect, it } from '@jest/globals';

import { startHttpBed, tcpCheck, type BedOptions, type HttpBed } from '../../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../../test/http-fakes.ts';
import { CheckEvicted, StoreUnavailable } from '../../../redis/store-errors.ts';

const path = `/c/${CHECK_ID}`;
const general = 'A check from several places';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

/** The `property` metadata of a document by name, and its title. */
function metadataOf(text: string): Readonly<Record<string, string>> {
  const entries = [...text.matchAll(/<meta property="([^"]*)" content="([^"]*)"/g)].map(([, name, content]) => [
    name!,
    content!.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  ]);
  return { ...Object.fromEntries(entries), title: /<title>([^<]*)<\/title>/.exec(text)![1]! };
}

describe('the document of a check for programs that unfold links', () => {
  it('has name, verdict and headline', async () => {
    const { ask, stored } = await start();
    stored.set(CHECK_ID, tcpCheck('completed'));

    const { status, text } = await ask(path);
    const { json } = await ask(`/check/${CHECK_ID}/summary`);

    expect(status).toBe(200);
    expect(metadataOf(text)).toMatchObject({
      'og:title': 'tcp Example.com:443: up',
      'og:description': (json as { readonly headline: string }).headline,
      'og:image:alt': 'tcp Example.com:443: up',
      title: 'tcp Example.com:443: up · Vantage',
    });
  });

  it('has no verdict of a check that is pending', async () => {
    const { ask, stored } = await start();
    stored.set(CHECK_ID, tcpCheck('pending'));

    expect(metadataOf((await ask(path)).text)).toMatchObject({
      'og:title': 'tcp Example.com:443: pending, 1 of 2',
      'og:description': '1 of 2 probes have answered.',
    });
  });

  it('keeps the text of others in its place', async () => {
    const { ask, stored } = await start();
    const host = `https://a.example/$&$\`?"><script>alert(1)</script>\u{202e}`;
    stored.set(CHECK_ID, { ...tcpCheck('completed'), type: 'http', host, results: {} });

    const { text } = await ask(path);

    expect(text).not.toContain('<script>alert');
    expect(metadataOf(text)['og:title']).toBe(
      String.raw`http https://a.example/$&$` + '`?"><script>alert(1)</script>' + String.raw`\u{202e}: unknown`,
    );
  });

  it.each([
    ['unknown', undefined, 'check: not found', /no check with this id/],
    ['removed', 'Its results were removed.', 'check: removed', /^Its results were removed\.$/],
  ])('says that a check is %s', async (_name, reason, title, description) => {
    const read = async (): Promise<undefined> => {
      if (reason !== undefined) throw new CheckEvicted(reason);
      return undefined;
    };
    const { ask } = await start({ checks: { read } });

    expect(metadataOf((await ask(path)).text)).toMatchObject({
      'og:title': title,
      'og:description': expect.stringMatching(description),
    });
  });
});

describe('the document of a check without its texts', () => {
  it('is sent at once to a browser that navigates', async () => {
    let reads = 0;
    const read = async (): Promise<undefined> => {
      reads += 1;
      return undefined;
    };
    const { ask } = await start({ checks: { read } });

    const { text, headers } = await ask(path, { headers: { 'Sec-Fetch-Dest': 'document' } });

    expect(reads).toBe(0);
    expect(headers.get('RateLimit')).toBeNull();
    expect(metadataOf(text)['og:title']).toBe(general);
  });

  it('is sent in place of a refusal, and while the store is out of reach or slow', async () => {
    let read = async (): Promise<never> => {
      throw new StoreUnavailable('down');
    };
    const { ask } = await start({
      checks: { read: () => read() },
      rateLimits: { ...highLimits, showSummary: 2 },
    });

    const down = await ask(path);
    read = () => new Promise(() => undefined);
    const slow = await ask(path);
    const refused = await ask(path);

    for (const { status, text } of [down, slow, refused]) {
      expect(status).toBe(200);
      expect(metadataOf(text)).toMatchObject({ 'og:title': general, title: expect.stringMatching(/^Vantage: /) });
    }
    expect((await ask(`/check/${CHECK_ID}/summary`)).status).toBe(429);
  });
});
