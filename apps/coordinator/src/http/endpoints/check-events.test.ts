import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';

import { echo } from '../../../test/echo-type.ts';
import { PATIENT_MS, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, startLongCheck, success } from '../../../test/check-steps.ts';
import { readEvents, streamFaults, type EventReader, type ReadEvent } from '../../../test/event-reader.ts';
import { startHttpBed, type BedOptions, type HttpBed } from '../../../test/http-bed.ts';
import { CHECK_ID, noMonitors } from '../../../test/http-fakes.ts';
import type { Core } from '../../core.ts';

let bed: CoreBed;
let other: Core;
/** `here` uses the core that creates the checks, `there` another one. */
let here: HttpBed;
let there: HttpBed;
const opened: EventReader[] = [];

const edgeOf = (core: Core, options: BedOptions = {}): Promise<HttpBed> =>
  startHttpBed({ checkTypes: [echo], checks: core.checks, live: core.live, ...options });

beforeAll(async () => {
  bed = await startCoreBed();
  other = bed.startCore();
  await until(() => other.rateLimitRedis.status === 'ready');
  for (const id of ['fra-1', 'nyc-1']) {
    await bed.addProbe(id);
  }
});

beforeEach(async () => {
  [here, there] = await Promise.all([edgeOf(bed.core), edgeOf(other)]);
});

afterEach(async () => {
  for (const reader of opened.splice(0)) reader.close();
  await Promise.all([here.close(), there.close()]);
});

afterAll(async () => bed.stop());

const start = (probes: readonly string[]): Promise<string> => startLongCheck(bed, probes);

async function follow(edge: HttpBed, id: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await readEvents(`${edge.url}/check/${id}/events`, headers);
  opened.push(reader);
  return reader;
}

const isOf =
  (probe: string, said?: string) =>
  ({ data }: ReadEvent): boolean =>
    data.probe === probe && (said === undefined || data.result?.['said'] === said);
const isFinal = (event: ReadEvent): boolean => event.name === 'probe' && event.data.result?.['result'] !== 'pending';

describe('GET /check/:id/events', () => {
  it('shows every probe as it stands, each change, then the completed check, and ends', async () => {
    const id = await start(['fra-1', 'nyc-1']);
    const reader = await follow(there, id);
    await reader.event(isOf('nyc-1'));
    await report(bed.redis, 'fra-1', id, { said: 'half' }, { kind: 'partial' });
    await reader.event(isOf('fra-1', 'half'));
    await report(bed.redis, 'fra-1', id, success('one'));
    await reader.event(isOf('fra-1', 'one'));
    await report(bed.redis, 'nyc-1', id, success('two'));
    await reader.ended;

    expect(reader.status).toBe(200);
    const events = reader.events();
    expect(events.map(({ id, name, data }) => [id, name, data.probe, data.result?.['said']])).toEqual([
      [0, 'probe', 'fra-1', undefined],
      [0, 'probe', 'nyc-1', undefined],
      [1, 'probe', 'fra-1', 'half'],
      [2, 'probe', 'fra-1', 'one'],
      [3, 'probe', 'nyc-1', 'two'],
      [1_000_004, 'completed', undefined, undefined],
    ]);
    expect(events[2]!.data.result).toEqual({ result: 'pending', said: 'half', country: 'Nowhere' });
    expect(events.at(-1)!.data).toEqual(JSON.parse(JSON.stringify(await bed.read(id))));
    expect(await streamFaults(there.url, `/check/${id}/events`, reader)).toEqual([]);
  });

  it('is not to be kept, changed or collected on its way, and is open to every page', async () => {
    const reader = await follow(here, await start(['fra-1']), { 'Accept-Encoding': 'br, gzip' });

    expect(reader.headers.get('content-encoding')).toBeNull();
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      ratelimit: expect.stringMatching(/^"follow-check"; r=\d+/),
    });
    await reader.event(isOf('fra-1'));
    expect(reader.text()).toMatch(/^retry: 1000\n\n/);
  });

  it('shows a completed check as it ended, and nothing to a client that has all of it', async () => {
    const id = await start(['fra-1']);
    await report(bed.redis, 'fra-1', id, success('done'));
    await bed.read(id, PATIENT_MS);

    const first = await follow(there, id);
    await first.ended;
    const { id: last } = first.events().at(-1)!;
    const again = await follow(there, id, { 'Last-Event-ID': String(last) });
    await again.ended;
    const byParameter = await readEvents(`${there.url}/check/${id}/events?lastEventId=${last}`);
    await byParameter.ended;

    expect(byParameter.status).toBe(204);
    expect(first.events().map(({ name }) => name)).toEqual(['probe', 'completed']);
    expect([again.status, again.text()]).toEqual([204, '']);
    expect(await streamFaults(there.url, `/check/${id}/events`, again)).toEqual([]);
  });

  it('compresses the events of a completed check, and each once', async () => {
    const id = await start(['fra-1', 'nyc-1']);
    for (const probe of ['fra-1', 'nyc-1']) await report(bed.redis, probe, id, success('long '.repeat(500)));
    await bed.read(id, PATIENT_MS);

    const plain = await follow(here, id, { 'Accept-Encoding': 'identity' });
    await plain.ended;
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const encoding of ['br', 'gzip', 'br']) {
      const reader = await follow(here, id, { 'Accept-Encoding': encoding });
      await reader.ended;
      expect(Object.fromEntries(reader.headers)).toMatchObject({
        'content-encoding': encoding,
        'content-type': 'text/event-stream',
        'cache-control': 'no-store, no-transform',
        vary: expect.stringContaining('Accept-Encoding'),
      });
      expect(reader.text()).toBe(plain.text());
      expect(await streamFaults(here.url, `/check/${id}/events`, reader)).toEqual([]);
    }
    const { id: last } = plain.events()[0]!;
    const rest = await follow(here, id, { 'Last-Event-ID': String(last), 'Accept-Encoding': 'br' });
    await rest.ended;
    expect([rest.headers.get('content-encoding'), rest.events().length]).toEqual([null, plain.events().length - 1]);
  });

  it.each([
    ['the version before', (version: number) => String(version - 1), ['nyc-1']],
    ['this version', String, []],
    ['a version that Redis has lost', (version: number) => String(version + 100), ['fra-1', 'nyc-1']],
    ['no number', () => 'abc', ['fra-1', 'nyc-1']],
    ['a number beyond all', () => '9'.repeat(40), ['fra-1', 'nyc-1']],
  ])('resumes after %s', async (_reason, idOf, expected) => {
    const id = await start(['fra-1', 'nyc-1']);
    const before = await follow(here, id);
    await report(bed.redis, 'fra-1', id, success('one'));
    await before.event(isOf('fra-1', 'one'));
    await report(bed.redis, 'nyc-1', id, { said: 'half' }, { kind: 'partial' });
    const { id: version } = await before.event(isOf('nyc-1', 'half'));
    const reader = await follow(there, id, { 'Last-Event-ID': idOf(version) });
    await report(bed.redis, 'nyc-1', id, success('two'));
    await reader.ended;

    const probes = reader.events().map(({ data, name }) => data.probe ?? name);
    expect(probes).toEqual([...expected, 'nyc-1', 'completed']);
  });

  it('ends with the completed check for a client that has events which Redis has lost', async () => {
    const id = await start(['fra-1', 'nyc-1']);
    const key = redisKeys.check(id);
    const saved = await bed.redis.dumpBuffer(key);
    const before = await follow(here, id);
    for (const said of ['a', 'b', 'c']) {
      await report(bed.redis, 'fra-1', id, { said }, { kind: 'partial' });
      await before.event(isOf('fra-1', said));
    }
    const { id: last } = before.events().at(-1)!;
    before.close();
    // Simulates a crash of Redis: its last writes are lost, and versions are assigned again.
    await bed.redis.restore(key, 0, saved, 'REPLACE');
    await report(bed.redis, 'fra-1', id, success('one'));
    await report(bed.redis, 'nyc-1', id, success('two'));
    await bed.read(id, PATIENT_MS);
    expect(Number(await bed.redis.hget(key, 'v'))).toBe(last);

    const reader = await follow(there, id, { 'Last-Event-ID': String(last) });
    await reader.ended;
    expect([reader.status, reader.events().at(-1)?.name]).toEqual([200, 'completed']);
  });

  it('names the picture of a check and never carries it', async () => {
    const id = await start(['fra-1', 'nyc-1']);
    await report(bed.redis, 'fra-1', id, success('one'));
    const reader = await follow(here, id);
    await reader.event(isOf('fra-1', 'one'));
    // Simulates the settling of a screenshot.
    const version = await bed.redis.hincrby(redisKeys.check(id), 'v', 1);
    const shot = JSON.stringify({ state: 'taken', probe: 'fra-1', reason: null });
    await bed.redis.hset(redisKeys.check(id), { shot, 'v:fra-1': version });
    await bed.redis.publish(redisKeys.checkEvents(id), JSON.stringify({ version, kind: 'screenshot' }));
    const named = await reader.event(({ data }) => data.result?.['screenshotUrl'] !== undefined);
    await report(bed.redis, 'nyc-1', id, success('two'));
    await reader.ended;

    const screenshotUrl = `/check/${id}/screenshot`;
    expect(named).toMatchObject({ id: version, data: { probe: 'fra-1', result: { said: 'one', screenshotUrl } } });
    const { data } = reader.events().at(-1)!;
    expect(data.results).toMatchObject({ 'fra-1': { screenshotUrl } });
    expect(data.results!['nyc-1']).not.toHaveProperty('screenshotUrl');
  });

  it.each(['', 'abc', CHECK_ID, '__proto__', '..%2F..%2Fetc'])('knows no check %j', async (id) => {
    const { status, json } = await here.ask(`/check/${id}/events`);

    expect(status).toBe(404);
    expect(json).toMatchObject({ status: 404 });
  });

  it('answers HEAD as GET without its events, a preflight, and 405 to everything else', async () => {
    const id = await start(['fra-1']);
    const path = `/check/${id}/events`;

    const head = await here.ask(path, { method: 'HEAD' });
    const preflight = await here.ask(path, { method: 'OPTIONS' });
    const post = await here.ask(path, { method: 'POST' });

    expect([head.status, head.headers.get('Content-Type'), head.text]).toEqual([200, 'text/event-stream', '']);
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('Last-Event-ID');
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('says something while nothing happens', async () => {
    const edge = await edgeOf(bed.core, { streamTimes: { heartbeatMs: 20 } });
    const reader = await follow(edge, await start(['fra-1']));

    await until(() => reader.text().includes('\n\n:\n\n:\n\n'));

    reader.close();
    await edge.close();
  });

  it('sends its clients away when the service stops, to come back where they were', async () => {
    const stopping = new AbortController();
    const edge = await edgeOf(bed.core, { stopping: stopping.signal });
    const id = await start(['fra-1']);
    const readers = [await follow(edge, id), await follow(edge, id)];
    for (const reader of readers) await reader.event(isOf('fra-1'));

    stopping.abort();

    for (const reader of readers) {
      await reader.ended;
      const [, milliseconds] = /\n\nretry: (\d+)\n\n$/.exec(reader.text())!;
      expect(Number(milliseconds)).toBeGreaterThanOrEqual(500);
      expect(Number(milliseconds)).toBeLessThanOrEqual(2_500);
    }
    const late = await follow(edge, id);
    await late.ended;
    expect(late.text()).toMatch(/retry: \d+\n\n$/);
    await edge.close();
  });

  it('serves many streams of one check', async () => {
    const id = await start(['fra-1', 'nyc-1']);
    const readers = await Promise.all(Array.from({ length: 200 }, () => follow(there, id)));
    await Promise.all(readers.map((reader) => reader.event(isOf('nyc-1'))));
    await report(bed.redis, 'fra-1', id, success('one'));
    await report(bed.redis, 'nyc-1', id, success('two'));
    await Promise.all(readers.map(({ ended }) => ended));

    for (const reader of readers) expect(reader.events().filter(isFinal)).toHaveLength(2);
  });
});

describe('the bounds of event streams', () => {
  it('refuse a client that has as many open as it may, until one of them ends', async () => {
    const edge = await edgeOf(bed.core, { streamBounds: { perClient: 2, total: 10 } });
    const id = await start(['fra-1']);
    const [first] = [await follow(edge, id), await follow(edge, id)];

    const refused = await edge.ask(`/check/${id}/events`);
    first.close();
    await first.ended;
    const reopened = async (): Promise<boolean> => {
      const reader = await follow(edge, id);
      if (reader.status !== 200) await reader.ended;
      return reader.status === 200;
    };

    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ type: expect.stringMatching(/\/problems\/too-many-streams$/) });
    expect(refused.headers.get('Retry-After')).toBe('5');
    await until(reopened);
    await edge.close();
  });

  it('refuse everybody when the service has as many open as it can', async () => {
    const trustedProxies = ['127.0.0.1'];
    const edge = await edgeOf(bed.core, { streamBounds: { perClient: 1, total: 2 }, trustedProxies });
    const id = await start(['fra-1']);
    const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
    await follow(edge, id, from('192.0.2.1'));
    await follow(edge, id, from('2001:db8::1'));

    const sameNetwork = await edge.ask(`/check/${id}/events`, { headers: from('2001:db8::2') });
    const another = await edge.ask(`/check/${id}/events`, { headers: from('192.0.2.2') });

    expect([sameNetwork.status, another.status]).toEqual([429, 503]);
    await edge.close();
  });

  it('count the streams of monitors with those of checks', async () => {
    const eventsAfter = async () => ({ events: [], run: undefined, snapshot: undefined });
    const monitors = { ...noMonitors, follow: () => () => undefined, eventsAfter };
    const edge = await edgeOf(bed.core, { monitors, streamBounds: { perClient: 1, total: 10 } });
    const reader = await readEvents(`${edge.url}/monitors/web/events`);
    opened.push(reader);

    const refused = await edge.ask(`/check/${await start(['fra-1'])}/events`);

    expect([reader.status, refused.status]).toEqual([200, 429]);
    await edge.close();
  });

  it('count no stream that never began', async () => {
    const edge = await edgeOf(bed.core, { streamBounds: { perClient: 1, total: 1 } });
    for (let round = 0; round < 3; round += 1) {
      expect((await edge.ask(`/check/${CHECK_ID}/events`)).status).toBe(404);
    }
    const id = await start(['fra-1']);

    expect((await edge.ask(`/check/${id}/events`, { method: 'HEAD' })).status).toBe(200);
    expect((await follow(edge, id)).status).toBe(200);
    await edge.close();
  });
});
