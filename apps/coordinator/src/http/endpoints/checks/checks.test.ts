import { spawnSync } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { post, startHttpBed, tcpCheck, type BedOptions, type HttpBed } from '../../../../test/http-bed.ts';
import { CHECK_ID } from '../../../../test/http-fakes.ts';
import type { Checks, Unselected } from '../../../checks/checks.ts';
import { markOverdue } from '../../limits/pace-requests.ts';
import { CheckEvicted, StoreUnavailable } from '../../../redis/store-errors.ts';

/** Far longer than the service takes for requests that have already arrived. */
const UNHEARD_MS = 1_000;

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('POST /check', () => {
  it('answers 202 with the id and the place of the results, and hands on what the diagnostic needs', async () => {
    const { ask, created } = await start();

    const answer = await ask(
      '/check',
      post({ type: 'tcp', host: 'Example.com', port: 443, recordType: 'MX', limit: 3 }),
    );

    expect(answer.status).toBe(202);
    expect(answer.headers.get('Location')).toBe(`/check/${CHECK_ID}/results`);
    expect(answer.json).toEqual({ checkId: CHECK_ID, status: 'pending', message: 'The tcp check runs from 2 probes.' });
    expect(created).toMatchObject([
      {
        submittedHost: 'Example.com',
        params: { host: 'example.com', port: 443, options: { attempts: 3 } },
        limit: 3,
        probes: undefined,
        locations: undefined,
      },
    ]);
    expect(created[0]!.params).not.toHaveProperty('recordType');
  });

  it.each([
    ['an unknown field', { type: 'tcp', host: 'a.example', prot: 1, port: 1 }, '/prot', 'did you mean “port”?'],
    [
      'an unknown option',
      { type: 'tcp', host: 'a.example', port: 1, options: { atempts: 1 } },
      '/options/atempts',
      'did you mean “attempts”?',
    ],
    ['a port as text', { type: 'tcp', host: 'a.example', port: '80' }, '/port', 'must be an integer'],
    ['a missing port', { type: 'tcp', host: 'a.example' }, '/port', 'is required'],
    ['a missing host', { type: 'tcp', port: 80 }, '/host', 'is required'],
    ['an unknown type', { type: 'pong', host: 'a.example' }, '/type', 'must be one of'],
    ['a missing type', { host: 'a.example' }, '/type', 'is required: one of'],
    ['a mistyped type', { type: 'pnig', host: 'a.example' }, '/type', '; did you mean “ping”?'],
    [
      'a mistyped choice',
      { type: 'http', host: 'https://a.example', options: { method: 'get' } },
      '/options/method',
      'must be one of GET, HEAD, OPTIONS; did you mean “GET”?',
    ],
    [
      'a family as a text',
      { type: 'ping', host: 'a.example', options: { family: '6' } },
      '/options/family',
      'must be one of 4, 6, both; did you mean 6?',
    ],
    ['a type that every object has', { type: 'toString', host: 'a.example' }, '/type', 'must be one of'],
    [
      'probes and locations at once',
      { type: 'tcp', host: 'a.example', port: 1, probes: ['a'], locations: ['de'] },
      '/locations',
      'cannot be combined',
    ],
    ['a list', [], '', 'must be an object'],
    ['a host of an odd form', { type: 'tcp', host: 'a.invalid', port: 1 }, '/host', 'The host has an odd form.'],
  ])('refuses %s with 400 and says where', async (_reason, body, path, message) => {
    const { ask, created } = await start();

    const answer = await ask('/check', post(body));

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      type: expect.stringMatching(/\/problems\/invalid-request$/),
      errors: expect.arrayContaining([{ path, message: expect.stringContaining(message) }]),
    });
    expect(created).toEqual([]);
  });

  it.each([
    ['refused', '10.0.0.1', 403],
    ['of an odd form', 'x.invalid', 400],
    ['in order', '192.0.2.53', 202],
  ])('judges what the caller wants contacted besides, when it is %s', async (_reason, host, status) => {
    const otherTargets = () => [{ path: '/options/resolver', host, purpose: 'dns' as const }];
    const tcp: AnyCheckType = checkTypes.tcp;
    const { ask } = await start({ checkTypes: [{ ...tcp, otherTargets }] });

    expect((await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }))).status).toBe(status);
  });

  it('names every known type where the type is unknown', async () => {
    const { ask } = await start();

    const { text } = await ask('/check', post({ type: 'pong', host: 'a.example' }));

    for (const type of ['ping', 'http', 'tcp', 'udp', 'dns', 'traceroute', 'info']) expect(text).toContain(type);
  });

  it('refuses what the policy refuses with 403 and its reason', async () => {
    const { ask } = await start();

    const answer = await ask('/check', post({ type: 'tcp', host: '10.0.0.1', port: 80 }));

    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ detail: '10.0.0.1 is in 10.0.0.0/8 (Private-Use).' });
  });

  it.each<[string, Unselected, number]>([
    [
      'an unknown probe',
      { created: false, reason: 'invalid', errors: [{ path: '/probes/0', message: 'is not a probe' }] },
      400,
    ],
    ['no probe that can', { created: false, reason: 'no-probe', detail: 'No probe in Japan is online.' }, 422],
  ])('answers %s', async (_reason, selected, status) => {
    const { ask } = await start({ checks: { select: async () => selected, read: async () => undefined } });

    expect((await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }))).status).toBe(status);
  });

  it('starts nothing for a client that gave up while the process stood still', async () => {
    const { url, created, ask } = await start();
    const body = JSON.stringify({ type: 'tcp', host: 'a.example', port: 1 });
    // `spawnSync` blocks this process until curl gives up, so the service has not read its request by then.
    const options = ['--silent', '--max-time', '0.3', '--json', body, `${url}/check`];
    const statuses = Array.from({ length: 3 }, () => spawnSync('curl', options).status);

    const answer = await ask('/check', post({ type: 'tcp', host: 'b.example', port: 1 }));
    // The service reads curl's requests only after this one, when nothing waits for their responses.
    await sleep(UNHEARD_MS);

    expect(statuses).toEqual([28, 28, 28]);
    expect(answer.status).toBe(202);
    expect(created.map(({ submittedHost }) => submittedHost)).toEqual(['b.example']);
  });

  it('answers 503 with Retry-After while the store is away, and 500 without a word of the inside', async () => {
    let thrown: Error = new StoreUnavailable('ECONNREFUSED 127.0.0.1:6379');
    const fail = async (): Promise<never> => {
      throw thrown;
    };
    const { ask, log } = await start({ checks: { select: fail, read: fail } });

    const away = await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }));
    thrown = new Error('a secret of the inside');
    const broken = await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }));

    expect([away.status, away.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^[123]$/)]);
    expect(away.text + broken.text).not.toMatch(/ECONNREFUSED|secret|at .*\.ts/);
    expect(broken.status).toBe(500);
    const { requestId } = broken.json as { readonly requestId: string };
    expect(broken.headers.get('X-Request-Id')).toBe(requestId);
    expect(log).toContainEqual(
      expect.objectContaining({ requestId, err: expect.objectContaining({ message: 'a secret of the inside' }) }),
    );
  });
});

describe('a request that has waited too long because the coordinator is overloaded', () => {
  it('is refused with 503 if it starts a check, and counted; others are answered', async () => {
    const noteShed = jest.fn();
    const observers = [
      (request: IncomingMessage, _response: unknown, next: () => void): void => {
        markOverdue(request);
        next();
      },
    ];
    const { ask, created } = await start({ observers, checks: { noteShed } });

    const refused = await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }));
    const unrelated = await ask('/probes');

    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^[123]$/)]);
    expect(refused.json).toMatchObject({ detail: expect.stringMatching(/Nothing was accepted/) });
    expect(created).toEqual([]);
    expect(noteShed).toHaveBeenCalledTimes(1);
    expect(unrelated.status).toBe(200);
  });
});

describe('a check that was removed before its time', () => {
  it.each(['results', 'events', 'summary', 'screenshot'])('is 410 with the reason: %s', async (what) => {
    const gone = async (): Promise<never> => {
      throw new CheckEvicted('Its results were removed before their time.');
    };
    const { ask } = await start({ checks: { read: gone, screenshot: gone }, live: { follow: gone } });

    const { status, json } = await ask(`/check/${CHECK_ID}/${what}`);

    expect(status).toBe(410);
    expect(json).toMatchObject({
      type: expect.stringMatching(/check-evicted$/),
      detail: 'Its results were removed before their time.',
    });
  });
});

describe('GET /check/:id/results', () => {
  it('is not to be kept while the check is pending, and for as long as it is kept once completed', async () => {
    const { ask, stored } = await start({ retentionSeconds: 600 });

    stored.set(CHECK_ID, tcpCheck('pending'));
    const pending = await ask(`/check/${CHECK_ID}/results`);
    stored.set(CHECK_ID, tcpCheck('completed'));
    const completed = await ask(`/check/${CHECK_ID}/results?wait=0.5`);

    expect(pending.json).toMatchObject({ status: 'pending', results: { 'nyc-1': { result: 'pending' } } });
    expect(pending.headers.get('Cache-Control')).toBe('no-store');
    const [, maxAge] = /^public, max-age=(\d+), immutable$/.exec(completed.headers.get('Cache-Control')!)!;
    expect(Number(maxAge)).toBeLessThanOrEqual(600);
    expect(Number(maxAge)).toBeGreaterThan(500);
    expect(completed.json).toMatchObject({ testId: CHECK_ID, host: 'Example.com', status: 'completed' });
  });

  it('answers 304 to a client that has it', async () => {
    const { ask, stored } = await start();
    stored.set(CHECK_ID, tcpCheck('completed'));

    const first = await ask(`/check/${CHECK_ID}/results`);
    const again = await ask(`/check/${CHECK_ID}/results`, { headers: { 'If-None-Match': first.headers.get('ETag')! } });
    const other = await ask(`/check/${CHECK_ID}/results`, { headers: { 'If-None-Match': '"other"' } });

    expect([first.status, again.status, again.text, other.status]).toEqual([200, 304, '', 200]);
  });

  it.each([
    ['an id that no check has', CHECK_ID],
    ['an id that no check can have', 'abc'],
    ['an id that every object has', '__proto__'],
    ['a path in the id', '..%2F..%2Fetc%2Fpasswd'],
  ])('answers 404 to %s', async (_reason, id) => {
    const { ask } = await start();

    const answer = await ask(`/check/${id}/results`);

    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ type: expect.stringMatching(/\/problems\/check-not-found$/) });
  });

  it.each(['abc', '26', '-1', '25.0001', '1e1', '', '1&wait=2', '0x1', '١'])(
    'refuses ?wait=%s with 400',
    async (wait) => {
      const { ask } = await start();

      const answer = await ask(`/check/${CHECK_ID}/results?wait=${wait}`);

      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ errors: [{ path: '?wait' }] });
    },
  );

  it.each([
    ['', 0],
    ['?wait=25', 25_000],
    ['?wait=0.25', 250],
    ['?_=1', 0],
  ])('hands %s on as %d ms', async (query, expected) => {
    const waits: number[] = [];
    const read: Checks['read'] = async (_id, waitMs) => {
      waits.push(waitMs);
      return tcpCheck('completed');
    };
    const { ask } = await start({ checks: { select: notAsked, read } });

    await ask(`/check/${CHECK_ID}/results${query}`);

    expect(waits).toEqual([expected]);
  });

  it('stops waiting when the caller has gone or the service stops', async () => {
    const ends: (() => void)[] = [];
    const read: Checks['read'] = (_id, _waitMs, signal) =>
      new Promise((resolve) => {
        asked.resolve();
        signal.addEventListener('abort', () => {
          for (const end of ends) end();
          resolve(tcpCheck('pending'));
        });
      });
    let asked = Promise.withResolvers<void>();
    const stopping = new AbortController();
    const { url } = await start({ checks: { select: notAsked, read }, stopping: stopping.signal });
    const results = `${url}/check/${CHECK_ID}/results?wait=25`;

    const ended = new Promise<void>((resolve) => ends.push(resolve));
    const caller = new AbortController();
    const dropped = fetch(results, { signal: caller.signal }).catch(() => 'dropped');
    await asked.promise;
    caller.abort();
    await ended;
    asked = Promise.withResolvers<void>();
    const held = fetch(results);
    await asked.promise;
    stopping.abort();

    expect(await dropped).toBe('dropped');
    expect((await held).status).toBe(200);
  });
});

const notAsked: Checks['select'] = async () => {
  throw new Error('no check is created here');
};
