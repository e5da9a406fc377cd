import { describe, expect, it, jest } from '@jest/globals';
import type { Summary } from '@vantage/contract';
import { createClient, ProblemError, type Client, type WatchOptions } from '@vantage/client';

import { formDefinitions } from '../../build/check-forms.ts';
import { asCurl, asMarkdown } from './copies.ts';
import { cellsOf, codeWords, columnsOf } from './columns.ts';
import { groupRows } from '../filter/groups.ts';
import { sortRows } from '../filter/rows.ts';
import { toneOf } from '../parts/status.ts';
import { afterRefusal, observeCheck, type CheckData, type CheckState, type Result } from './use-check.ts';

const check: CheckData = {
  testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
  type: 'tcp',
  host: "exa'mple.com",
  status: 'completed',
  createdAt: '2026-11-21T01:00:00.000Z',
  completedAt: '2026-11-21T01:00:01.000Z',
  results: {
    'fra-2': { result: 'success', rt: 12.5, resolvedIp: '192.0.2.1', error: null, state: 'open' },
    'fra-10': { result: 'success', rt: 2.5, resolvedIp: '192.0.2.1', error: null, state: 'open' },
    'nyc-1': {
      result: 'failure',
      rt: null,
      resolvedIp: '[x](javascript:y)|',
      error: { code: 'connection_refused', phase: 'connect', source: 'target', message: 'No.' },
    },
  },
};

describe('copies of a check', () => {
  it('are commands for a shell', () => {
    expect(asCurl(check, 'https://vantage.example/net', { type: 'tcp', host: "exa'mple.com" })).toBe(
      `curl -s 'https://vantage.example/net/check' -H 'Content-Type: application/json' -d '{"type":"tcp","host":"exa'\\''mple.com"}'\n` +
        `curl -s 'https://vantage.example/net/check/qPUXvL1sQx2rGJm0Zf7N4w/results'`,
    );
    expect(asCurl(check, 'https://vantage.example', undefined)).toBe(
      `curl -s 'https://vantage.example/check/qPUXvL1sQx2rGJm0Zf7N4w/results'`,
    );
  });

  it('are a table in Markdown, in which nothing that strangers wrote is markup', () => {
    const lines = asMarkdown(check, undefined, 'https://vantage.example').split('\n');

    expect(lines[0]).toBe("**tcp** exa'mple.com");
    expect(lines).toContain('| Probe | Outcome | State | Handshake | Address |');
    expect(lines).toContain('| fra-2 | Success | open | 12.5 ms | 192.0.2.1 |');
    expect(lines).toContain(String.raw`| nyc-1 | Connection refused | – | – | \[x\](javascript:y)\| |`);
    expect(lines.at(-1)).toBe('<https://vantage.example/c/qPUXvL1sQx2rGJm0Zf7N4w> (2026-11-21T01:00:00.000Z)');
  });

  it('have every finding of the summary in Markdown, of the screenshot too', () => {
    const cut = { code: 'screenshot_incomplete', severity: 'info', text: 'The page is cut off at the limit of hosts.' };
    const slow = { code: 'http_server_slow', severity: 'warning', text: 'The answer took long to begin.' };
    const summary = { status: 'completed', headline: 'Fine.', findings: [slow, cut] } as unknown as Summary;

    const lines = asMarkdown(check, summary, 'https://vantage.example').split('\n');

    expect(lines.filter((line) => line.startsWith('- '))).toEqual([
      '- **warning**: The answer took long to begin.',
      '- **info**: The page is cut off at the limit of hosts.',
    ]);
  });

  it('have no preliminary summary of a completed check in Markdown: it is older than the rows', () => {
    const summary = { status: 'pending', headline: 'Open from 1 probe.', findings: [] } as unknown as Summary;

    expect(asMarkdown(check, summary, 'https://a.example')).not.toContain('Open from');
    expect(asMarkdown({ ...check, status: 'pending' }, summary, 'https://a.example')).toContain('Open from');
  });

  it('have the balancers on the paths, with the answers over each of their ways', () => {
    const nodes = [
      { id: 'ip:192.0.2.1', ip: '192.0.2.1', hopMin: 3, balances: 'flow' },
      { id: 'ip:192.0.2.2', ip: '192.0.2.2', hopMin: 4 },
    ];
    const edges = [
      { from: 'ip:192.0.2.1', to: 'ip:192.0.2.2', sent: 6, received: 5 },
      { from: 'ip:192.0.2.1', to: 'silent:ip:192.0.2.1|', sent: 9, received: 0 },
    ];
    const summary = {
      status: 'completed',
      headline: 'Fine.',
      findings: [],
      paths: { nodes, edges },
    } as unknown as Summary;

    const lines = asMarkdown(check, summary, 'https://vantage.example').split('\n');

    expect(lines).toContain(
      '- 192.0.2.1, hop 3, balances by flow over 192.0.2.2 (5 of 6 answered), no answer (0 of 9 answered)',
    );
  });
});

describe('the rows of the table', () => {
  const order = (key: string, isDown = false): string[] =>
    sortRows(Object.entries(check.results), columnsOf('tcp'), { key, isDown }).map(([id]) => id);

  it.each([
    ['by name, as people count', 'probe', false, ['fra-2', 'fra-10', 'nyc-1']],
    ['by name, down', 'probe', true, ['nyc-1', 'fra-10', 'fra-2']],
    ['by a number', 'rt', false, ['fra-10', 'fra-2', 'nyc-1']],
    ['by a number, down, what is missing still last', 'rt', true, ['fra-2', 'fra-10', 'nyc-1']],
    ['by outcome, what failed first', 'result', false, ['nyc-1', 'fra-2', 'fra-10']],
    ['by a column that is not there', 'x', false, ['fra-2', 'fra-10', 'nyc-1']],
  ])('sort %s', (_reason, key, isDown, ids) => {
    expect(order(key, isDown)).toEqual(ids);
  });

  it('are no failures of the target where the probe or its resolver failed', () => {
    const row = (
      id: string,
      result: string,
      code: string,
      source = 'target',
      phase = 'connect',
    ): readonly [string, Result] => [id, { result, error: { code, source, phase, message: 'No.' } }];
    const rows = [
      row('a-1', 'timeout', 'probe_timeout', 'probe'),
      row('a-2', 'failure', 'dns_resolver_unreachable'),
      row('a-3', 'timeout', 'timed_out'),
      row('a-4', 'failure', 'connection_refused'),
      row('a-5', 'error', 'probe_offline', 'probe'),
      row('a-6', 'failure', 'dns_refused', 'resolver', 'resolve'),
      row('a-7', 'timeout', 'timed_out', 'resolver', 'resolve'),
    ];

    const tones = ['mute', 'mute', 'warn', 'bad', 'mute', 'mute', 'mute'];
    expect(rows.map(([, result]) => toneOf(result))).toEqual(tones);
    const sorted = sortRows(rows, columnsOf('tcp'), { key: 'result', isDown: false });
    expect(sorted.map(([id]) => id)).toEqual(['a-4', 'a-3', 'a-1', 'a-2', 'a-5', 'a-6', 'a-7']);
    expect(groupRows(rows, 'country', 'tcp', {})).toMatchObject([{ failed: 2 }]);
  });

  it('have the time from the start to the first byte of an http response, not to the end of its head', () => {
    const timings = { dns: 1, connect: 10, tls: 20, firstByte: 30, download: 400, total: 461 };
    const texts = (result: object): object => Object.fromEntries(cellsOf('http', { result: 'success', ...result }));

    expect(texts({ rt: 361, timings })).toMatchObject({ 'First byte': '61.0 ms', Total: '461 ms' });
    const redirects = [{ timings: { total: 1_000 } }, { timings: { total: 500 } }];
    expect(texts({ rt: 361, timings, redirects })).toMatchObject({ 'First byte': '1.56 s', Total: '1.96 s' });
    expect(texts({ rt: null, timings: { dns: 1, connect: 10, total: 11 } })).toMatchObject({ 'First byte': '–' });
    expect(texts({})).toMatchObject({ 'First byte': '–', Total: '–' });
    const soFar = { result: 'pending', timings: { dns: 0, connect: 0.2, total: 0.2 } };
    expect(texts(soFar)).toMatchObject({ Total: '–' });
  });

  it('count no records of other names as answers of dns', () => {
    const record = (name: string, data: string) => ({ name, type: 'A', ttl: 60, data });
    const answers = [record('example.com.', '127.0.0.1'), record('a.example.', '127.0.0.2')];
    const result = { result: 'success', queryName: 'example.com.', answers } as unknown as Result;

    expect(cellsOf('dns', result)).toContainEqual(['Answers', '127.0.0.1']);
    const cut = { ...result, answers: [...answers, record('EXAMPLE.com.', '127.0.0.3')], truncated: true };
    expect(cellsOf('dns', cut as unknown as Result)).toContainEqual(['Answers', '127.0.0.1 +1 or more']);
  });

  it('have columns for every type, and the common ones for a type that is not known', () => {
    const common = columnsOf('whois');

    expect(common.map(({ title }) => title)).toEqual(['Outcome', 'Time', 'Address']);
    expect(
      formDefinitions()
        .map(({ type }) => type)
        .filter((type) => columnsOf(type) === common),
    ).toEqual([]);
    expect(codeWords('tls_handshake_failed')).toBe('TLS handshake failed');
  });
});

describe('a check that is followed', () => {
  const pending = { ...check, status: 'pending', completedAt: null, results: { 'fra-2': { result: 'pending' } } };
  const [id, signal] = [check.testId, new AbortController().signal];
  const problem = { type: 'x', title: 'x', status: 429, detail: 'No.', instance: '/', requestId: 'r' };

  /** A service that sends these events, and whose results arrive when the test releases them. */
  function follow(events: readonly unknown[]): {
    readonly shown: readonly unknown[];
    readonly followed: Promise<void>;
    readonly answer: (check: unknown) => void;
    /** Number of requests for the results. */
    readonly asked: () => number;
  } {
    let count = 0;
    const shown: unknown[] = [];
    const { promise: results, resolve: answer } = Promise.withResolvers<unknown>();
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: () => {
        count += 1;
        return results as Promise<never>;
      },
      watch: async function* () {
        yield* events;
      } as unknown as Client['watch'],
    };
    const followed = observeCheck(client, id, signal, (state) => shown.push(state));
    return { shown, followed, answer, asked: () => count };
  }

  const answered = { type: 'probe', version: 1, probe: 'fra-2', result: { result: 'success' } };

  it('stays completed when what was asked of it before comes late', async () => {
    const { shown, followed, answer } = follow([answered, { type: 'completed', version: 2, check }]);
    await followed;

    answer(pending);
    await new Promise(setImmediate);

    expect(shown).toEqual([{ kind: 'shown', check }]);
  });

  it('that was completed before is not read in addition to its events', async () => {
    const { shown, followed, asked } = follow([answered, { type: 'completed', version: 2, check }]);
    await followed;

    expect(shown).toEqual([{ kind: 'shown', check }]);
    expect(asked()).toBe(0);
  });

  it('is read where the service has nothing newer to say', async () => {
    const { shown, followed, answer } = follow([]);

    answer(check);
    await followed;

    expect(shown).toEqual([{ kind: 'shown', check }]);
  });

  it('tells why nothing new comes, but not of a connection that is back at once', async () => {
    const shown: unknown[] = [];
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: () => new Promise<never>(() => undefined),
      watch: async function* (_id: string, { onConnection }: WatchOptions = {}) {
        onConnection?.({ failure: new TypeError('Failed to fetch'), waitMs: 200 });
        onConnection?.(undefined);
        onConnection?.({ failure: new ProblemError(429, { ...problem, detail: 'At most 20.' }, 30), waitMs: 30_000 });
        onConnection?.(undefined);
        yield { type: 'completed', version: 2, check };
      },
    } as unknown as Client;

    await observeCheck(client, id, signal, (state) => shown.push(state));

    expect(shown).toEqual([
      { kind: 'loading', connectionProblem: { text: 'At most 20.', retryAt: expect.any(Number) } },
      { kind: 'loading' },
      { kind: 'shown', check },
    ]);
  });

  it('tries to connect for as long as it is open', async () => {
    let limitMs: number | undefined;
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: () => new Promise<never>(() => undefined),
      watch: async function* (_id: string, { giveUpAfterMs }: WatchOptions = {}) {
        limitMs = giveUpAfterMs;
        yield { type: 'completed', version: 2, check };
      },
    } as unknown as Client;

    await observeCheck(client, id, signal, () => undefined);

    expect(limitMs).toBeGreaterThan(10 ** 12);
  });

  it('does not ask for its results with each event where they are refused', async () => {
    let asked = 0;
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: () => {
        asked += 1;
        return Promise.reject(new ProblemError(429, problem, 3_600));
      },
      watch: async function* () {
        for (let event = 0; event < 10; event += 1) {
          yield { ...answered, result: { result: 'pending', event } };
          await new Promise(setImmediate);
        }
        yield { type: 'completed', version: 2, check };
      },
    } as unknown as Client;

    await observeCheck(client, id, signal, () => undefined);

    expect(asked).toBe(1);
  });

  it.each([
    ['events of a running check', 'pending'],
    ['a first event that is final', 'success'],
  ])('asks again for refused results in spite of %s', async (_what, result) => {
    let asked = 0;
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: async () => {
        asked += 1;
        if (asked === 1) throw new ProblemError(429, problem, 0.1);
        return pending;
      },
      watch: async function* () {
        while (result === 'success' && asked === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        for (let event = 0; event < 2; event += 1) {
          await new Promise(setImmediate);
          yield { ...answered, result: { result, event } };
        }
        for (let waited = 0; waited < 200 && asked < 2; waited += 1) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        yield { type: 'completed', version: 2, check };
      },
    } as unknown as Client;

    await observeCheck(client, id, signal, () => undefined);

    expect(asked).toBe(2);
  });

  it.each<[string, unknown]>([
    ['a store that is away', new ProblemError(503, { ...problem, status: 503, detail: 'Redis is away.' }, 0.001)],
    ['a proxy in front of a service that starts', new ProblemError(404, undefined, undefined)],
  ])('goes on after %s', async (_what, failure) => {
    const [shown, failures]: [unknown[], unknown[]] = [[], [failure]];
    const client = {
      ...createClient({ baseUrl: 'http://a.example' }),
      results: async () => {
        if (failures.length > 0) throw failures.pop() as Error;
        return check;
      },
      // Nothing is newer, as of a completed check whose events were received before.
      watch: async function* () {},
    } as unknown as Client;
    jest.useFakeTimers();
    const followed = observeCheck(client, id, signal, (state) => shown.push(state));
    await jest.advanceTimersByTimeAsync(3_000);
    jest.useRealTimers();
    await followed;

    expect(shown[0]).toMatchObject({ kind: 'loading', connectionProblem: { text: expect.any(String) } });
    expect(shown.at(-1)).toEqual({ kind: 'shown', check });
  });

  it.each<[string, ProblemError, CheckState]>([
    [
      'that was removed',
      new ProblemError(410, { ...problem, detail: 'Removed.' }, 0),
      { kind: 'gone', reason: 'Removed.' },
    ],
    ['that is not known', new ProblemError(404, problem, undefined), { kind: 'gone' }],
  ])('%s is gone, but what was measured stays', (_what, error, gone) => {
    expect(afterRefusal(error, { kind: 'loading' })).toEqual(gone);
    expect(afterRefusal(error, { kind: 'shown', check: pending })).toEqual({
      kind: 'shown',
      check: pending,
      connectionProblem: { text: error.message, retryAt: undefined },
    });
  });
});
