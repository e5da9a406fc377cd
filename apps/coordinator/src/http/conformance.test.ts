import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startHttpBed, tcpCheck, type HttpBed } from '../../test/http-bed.ts';
import { CHECK_ID } from '../../test/http-fakes.ts';
import { createConformance } from './conformance.ts';

let bed: HttpBed;
let faultsOf: ReturnType<typeof createConformance>;

beforeAll(async () => {
  bed = await startHttpBed();
  faultsOf = createConformance((await bed.ask('/openapi.json')).json);
});

afterAll(() => bed.close());

const headers = new Headers({
  'Content-Type': 'text/event-stream',
  'X-Request-Id': '00000000-0000-0000-0000-000000000000',
  RateLimit: '"follow-check"; r=1; t=1',
  'RateLimit-Policy': '"follow-check"; q=20; w=60',
  'Cache-Control': 'no-store, no-transform',
});

const streamed = (body: string): readonly string[] =>
  faultsOf({ method: 'GET', path: `/check/${CHECK_ID}/events`, status: 200, headers, body });
const event = (name: string, data: unknown, id = 'id: 1'): string =>
  `${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const final = tcpCheck('completed').results['fra-1']!;
/** A result of an http check with the fewest fields. */
const page = { result: 'pending', statusCode: 200 };

describe('the judge of event streams', () => {
  it.each<[string, string]>([
    [
      'a stream of events',
      event('probe', { probe: 'fra-1', result: final }) + event('completed', tcpCheck('completed')),
    ],
    ['a pending result', event('probe', { probe: 'fra-1', result: { result: 'pending' } }, 'id: 0')],
    ['comments and times to wait', 'retry: 1000\n\n:\n\n:\n\n'],
    ['an event that was cut off', 'id: 1\nevent: probe\ndata: {"pro'],
    ['nothing', ''],
  ])('finds no fault in %s', (_reason, body) => {
    expect(streamed(body)).toEqual([]);
  });

  it.each<[string, string, RegExp]>([
    ['an event of another name', event('weather', {}), /^event weather is not documented$/],
    ['an event without a version', event('probe', { probe: 'fra-1', result: final }, 'id: x'), /has no version$/],
    ['data that is no JSON', 'id: 1\nevent: probe\ndata: no\n\n', /^event probe /],
    ['data of another shape', event('probe', { probe: 'fra-1' }), /^event probe must have required property 'result'$/],
    ['a result of no type', event('probe', { probe: 'fra-1', result: { result: 'maybe' } }), /^event probe/],
    ['a check of no type', event('completed', { ...tcpCheck('completed'), type: 'pong' }), /^event completed/],
    ['text that is no event', 'hello\n\n', /^not an event: hello$/],
  ])('finds %s', (_reason, body, fault) => {
    expect(streamed(body)[0]).toMatch(fault);
  });

  it('lets events name a picture and never carry it', () => {
    const withPicture = (picture: object): readonly string[] =>
      streamed(event('probe', { probe: 'fra-1', result: { ...page, ...picture } }));

    expect(withPicture({})).toEqual([]);
    expect(withPicture({ screenshotUrl: `/check/${CHECK_ID}/screenshot` })).toEqual([]);
    expect(withPicture({ screenshot: 'iVBORw0KGgo=' })).not.toEqual([]);
  });
});
