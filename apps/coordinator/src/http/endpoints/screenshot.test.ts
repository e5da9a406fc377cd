import { afterEach, describe, expect, it } from '@jest/globals';
import { noScreenshot, type Screenshot } from '@vantage/contract';

import { startHttpBed, type BedOptions, type HttpBed } from '../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../test/http-fakes.ts';
import { blankPng } from '../../../test/photo.ts';
import type { Checks, ScreenshotReading } from '../../checks/checks.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';

const png = blankPng();
const taken: Screenshot = { state: 'taken', probe: 'fra-1', reason: null };
const path = `/check/${CHECK_ID}/screenshot`;

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(screenshot: Checks['screenshot'], options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed({ checks: { screenshot }, ...options });
  return bed;
}

const always =
  (screenshot: Screenshot, picture: Buffer | null = null): Checks['screenshot'] =>
  async (id): Promise<ScreenshotReading | undefined> =>
    id === CHECK_ID ? { screenshot, png: picture, createdAt: Date.now() } : undefined;

describe('GET /check/:id/screenshot', () => {
  it('answers the picture as it is, which never changes', async () => {
    const { ask, url } = await start(always(taken, png), { retentionSeconds: 3_600 });

    const answer = await ask(path);

    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'image/png']);
    expect(answer.headers.get('Cache-Control')).toMatch(/^public, max-age=(3600|3[45]\d\d), immutable$/);
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(Buffer.from(await (await fetch(url + path)).arrayBuffer())).toEqual(png);
  });

  it('answers 304 to a client that has it, and HEAD without it', async () => {
    const { ask } = await start(always(taken, png));
    const tag = (await ask(path)).headers.get('ETag')!;

    const again = await ask(path, { headers: { 'If-None-Match': tag } });
    const head = await ask(path, { method: 'HEAD' });

    expect([again.status, again.text]).toEqual([304, '']);
    expect([head.status, head.headers.get('Content-Length')]).toEqual([200, String(png.length)]);
  });

  it.each<[string, Screenshot, RegExp]>([
    ['is not taken yet', { state: 'pending', probe: 'fra-1', reason: null }, /not taken yet/],
    ['was not asked for', noScreenshot, /takes no screenshot/],
    ['is not kept any more', taken, /no longer kept/],
    [
      'was given up',
      {
        state: 'given_up',
        probe: 'fra-1',
        reason: { code: 'timed_out', phase: 'response', source: 'target', message: 'It was too slow.' },
      },
      /It was too slow\..*fra-1/,
    ],
    [
      'no probe could take',
      {
        state: 'given_up',
        probe: null,
        reason: { code: 'capability_missing', phase: 'dispatch', source: 'probe', message: 'No probe can.' },
      },
      /No probe can\.$/,
    ],
  ])('answers 404 and says why where the screenshot %s', async (_reason, screenshot, detail) => {
    const { ask } = await start(always(screenshot));

    const answer = await ask(path);

    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      type: expect.stringContaining('/problems/screenshot-not-found'),
      detail: expect.stringMatching(detail),
    });
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
  });

  it.each(['AAAAAAAAAAAAAAAAAAAAAA', 'nonsense', `${CHECK_ID}.shot`])('answers 404 for the check %s', async (id) => {
    const { ask } = await start(always(taken, png));

    expect(await ask(`/check/${id}/screenshot`)).toMatchObject({
      status: 404,
      json: { type: expect.stringContaining('/problems/check-not-found') },
    });
  });

  it('has a separate limit', async () => {
    const { ask } = await start(always(taken, png), { rateLimits: { ...highLimits, showScreenshot: 1 } });

    expect([(await ask(path)).status, (await ask(path)).status]).toEqual([200, 429]);
  });

  it('answers 503 without the store', async () => {
    const { ask } = await start(async () => {
      throw new StoreUnavailable('Redis is not connected');
    });

    expect((await ask(path)).status).toBe(503);
  });
});
