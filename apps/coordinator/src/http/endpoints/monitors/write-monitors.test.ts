import { redisKeys, type Monitor, type MonitorInList } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { evaluateTarget } from '@vantage/target-policy';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { nowhere, quiet, until } from '../../../../test/core-bed.ts';
import type { HttpBed, Question, Seen } from '../../../../test/http-bed.ts';
import { bearer, startKeyBed, type KeyBed } from '../../../../test/key-bed.ts';
import { createCore, type Core } from '../../../core.ts';
import { createKeyPolicies } from '../../../keys/key-policies.ts';
import { firstTickAfter } from '../../../monitors/definition.ts';
import { putMonitor } from '../../../monitors/store/definition-records.ts';
import { createMonitorReader } from '../../requests/read-monitor.ts';

let bed: KeyBed;
let core: Core;
let edge: HttpBed;
let [writer, reader] = ['', ''];

const ping = { check: { type: 'ping', host: 'example.com', limit: 5 }, every: '1h' };

beforeAll(async () => {
  bed = await startKeyBed();
  const policyFor = createKeyPolicies({});
  core = createCore({
    redisUrl: bed.server.url,
    log: quiet,
    retentionSeconds: 600,
    lookUpPlace: nowhere,
    monitors: {
      readDefinition: createMonitorReader(Object.values(checkTypes), (target, allow) =>
        evaluateTarget(target, policyFor(allow)),
      ),
      most: 3,
    },
  });
  writer = await bed.add('writer', '--scopes', 'monitor,read', '--allow', '10.1.0.0/16');
  reader = await bed.add('reader', '--scopes', 'read');
  edge = await bed.startEdge({ monitors: core.monitors });
  await until(() => core.rateLimitRedis.status === 'ready');
});

afterAll(async () => {
  await core.close();
  await bed.stop();
});

function put(body: unknown, key = writer): Question {
  const headers = { 'Content-Type': 'application/json', ...(key === '' ? {} : bearer(key)) };
  return { method: 'PUT', body: JSON.stringify(body), headers };
}

const remove = (key = writer): Question => ({ method: 'DELETE', headers: key === '' ? {} : bearer(key) });
const typeOf = ({ json }: Seen): unknown => (json as { type: string }).type.split('/').at(-1);

describe('PUT /monitors/:name', () => {
  it('makes a monitor, replaces it, and does nothing the second time', async () => {
    const made = await edge.ask('/monitors/web', put(ping));
    const same = await edge.ask('/monitors/web', put(ping));
    const changed = await edge.ask('/monitors/web', put({ ...ping, every: '2h' }));

    expect(made).toMatchObject({
      status: 201,
      json: { name: 'web', owner: 'api', ...ping, state: 'unknown', runs: [] },
    });
    expect([same.status, changed.status]).toEqual([200, 200]);
    expect((same.json as Monitor).nextTickAt).toBe((made.json as Monitor).nextTickAt);
    expect((await edge.ask('/monitors')).json).toMatchObject({ web: { every: '2h' } });
    expect((await edge.ask('/monitors/web', remove())).status).toBe(204);
    expect((await edge.ask('/monitors/web')).status).toBe(404);
  });

  it.each([
    ['no key', '', 401, 'key-missing'],
    ['a token that is none', 'eyJhbGciOiJIUzI1NiJ9', 401, 'key-missing'],
    ['a key without the scope', 'reader', 403, 'scope-missing'],
  ])('is refused with %s, and so is DELETE', async (_reason, name, status, type) => {
    const key = name === 'reader' ? reader : name;
    for (const question of [put(ping, key), remove(key)]) {
      const seen = await edge.ask('/monitors/web', question);
      expect([seen.status, typeOf(seen)]).toEqual([status, type]);
    }
  });

  it.each([
    [
      'a field',
      { ...ping, every: '1s' },
      'web',
      [{ path: '/every', message: 'must be a duration from 10s to 1d, such as 30s or 5m' }],
    ],
    [
      'a target that the policy refuses',
      { ...ping, check: { type: 'ping', host: '10.2.0.1' } },
      'web',
      [{ path: '/check/host' }],
    ],
    ['the name', ping, 'No', [{ path: '{name}', message: expect.stringContaining('lower-case letters') }]],
  ])('names what is wrong: %s', async (_reason, body, name, errors) => {
    expect(await edge.ask(`/monitors/${name}`, put(body))).toMatchObject({ status: 400, json: { errors } });
  });

  it('may measure the networks of its key, at later ticks too', async () => {
    expect(
      (await edge.ask('/monitors/inside', put({ ...ping, check: { type: 'ping', host: '10.1.2.3' } }))).status,
    ).toBe(201);
    // Makes the tick due now. The reason below shows that the target policy admitted the target, since no probe is
    // registered.
    await bed.redis.zadd(redisKeys.monitorsDue, Date.now(), 'inside');
    await until(async () => ((await core.monitors.read('inside'))?.runs.length ?? 0) > 0);

    expect((await core.monitors.read('inside'))?.runs[0]?.reason).toBe('No probe is registered yet.');
    await edge.ask('/monitors/inside', remove());
  });

  it('keeps state and runs if the same is written otherwise', async () => {
    const { check } = ping;
    await edge.ask('/monitors/again', put({ check, every: '1h' }));
    // Makes the tick due now.
    await bed.redis.zadd(redisKeys.monitorsDue, Date.now(), 'again');
    const runsOf = async (): Promise<number | undefined> => (await core.monitors.read('again'))?.runs.length;
    await until(async () => (await runsOf()) === 1);

    const reversed = Object.fromEntries(Object.entries(check).toReversed());
    const same = await edge.ask('/monitors/again', put({ alarm: { for: 2 }, every: '60m', check: reversed }));
    expect(same).toMatchObject({ status: 200, json: { every: '60m', runs: [{}] } });
    expect(await runsOf()).toBe(1);

    await edge.ask('/monitors/again', put({ check, every: '60m', alarm: { for: 3 } }));
    expect(await runsOf()).toBe(0);
    await edge.ask('/monitors/again', remove());
  });

  it('is refused for a monitor that the file owns', async () => {
    const stored = { owner: 'file' as const, request: ping };
    await putMonitor(bed.redis, 'of-file', stored, firstTickAfter(Date.now(), { name: 'of-file', everyMs: 3_600_000 }));

    for (const question of [put(ping), remove()]) {
      const seen = await edge.ask('/monitors/of-file', question);
      expect([seen.status, typeOf(seen)]).toEqual([409, 'monitor-of-file']);
    }
  });

  it('is refused beyond the highest number', async () => {
    const answers: Seen[] = [];
    for (const name of ['one', 'two', 'three']) answers.push(await edge.ask(`/monitors/${name}`, put(ping)));

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 409]);
    expect(typeOf(answers[2]!)).toBe('too-many-monitors');
    for (const name of ['one', 'two']) await edge.ask(`/monitors/${name}`, remove());
  });

  it('shows its methods', async () => {
    const seen = await edge.ask('/monitors/web', { method: 'PATCH' });

    expect([seen.status, seen.headers.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, DELETE, OPTIONS']);
  });
});

describe('GET /monitors/:name/events', () => {
  interface Frame {
    /** Undefined for an event at which clients cannot resume. */
    readonly id: string | undefined;
    readonly event: string;
    readonly data: Record<string, unknown>;
  }

  /** Reads frames up to a count or the end of the stream. */
  async function frames(
    count: number,
    headers: Record<string, string> = {},
    onFirst: () => Promise<unknown> = async () => undefined,
  ): Promise<Frame[]> {
    const leaving = new AbortController();
    const response = await fetch(`${edge.url}/monitors/live/events`, { headers, signal: leaving.signal });
    expect(response.headers.get('Content-Type')).toBe('text/event-stream');
    const found: Frame[] = [];
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const [, id, event, data] = /^(?:id: (.+)\n)?event: (.+)\ndata: (.+)$/.exec(part) ?? [];
        if (event === undefined) continue;
        found.push({ id, event, data: JSON.parse(data!) as Frame['data'] });
        if (found.length === 1) await onFirst();
      }
      if (found.length >= count) break;
    }
    leaving.abort();
    return found;
  }

  const add = (n: number): Promise<string | null> =>
    bed.redis.xadd(redisKeys.monitorEvents('live'), '*', 'event', JSON.stringify({ kind: 'probe', n }));
  const announce = (): Promise<number> => bed.redis.publish(redisKeys.monitorsChanged, 'live');

  it('shows the monitor, then each change, and resumes', async () => {
    await edge.ask('/monitors/live', put(ping));
    const seen = await frames(3, {}, async () => {
      await add(1);
      await add(2);
      await announce();
    });
    const resumed = await frames(1, { 'Last-Event-ID': seen.at(-2)!.id! });

    expect(seen[0]).toMatchObject({ event: 'monitor', data: { name: 'live', state: 'unknown' } });
    expect(seen.at(-1)).toMatchObject({ event: 'probe', data: { n: 2 } });
    expect(resumed).toEqual([seen.at(-1)]);
    expect('runs' in (seen[0]!.data as unknown as MonitorInList)).toBe(false);
  });

  it('has the last run, and each further one once', async () => {
    const add = (tick: number): Promise<number> => {
      const run = { tick, checkId: null, atMs: tick, startedMs: null, reason: 'None.', results: {} };
      return bed.redis.lpush(redisKeys.monitorRuns('live'), JSON.stringify(run));
    };
    await edge.ask('/monitors/live', put({ ...ping, every: '4h' }));
    await add(1);
    const seen = await frames(3, {}, async () => {
      await announce();
      await add(2);
      await announce();
    });

    expect(seen.map(({ id, event, data }) => [id === undefined, event, data['tick']])).toEqual([
      [false, 'monitor', undefined],
      [true, 'run', 1],
      [true, 'run', 2],
    ]);
  });

  it('ends when the monitor is removed', async () => {
    await edge.ask('/monitors/live', put({ ...ping, every: '3h' }));
    const seen = await frames(Number.POSITIVE_INFINITY, {}, () => edge.ask('/monitors/live', remove()));

    expect(seen.map(({ event }) => event)).toEqual(['monitor']);
    expect((await edge.ask('/monitors/live/events')).status).toBe(404);
  });
});
