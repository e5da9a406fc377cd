import { describe, expect, it } from '@jest/globals';
import { ProblemError, type Client } from '@vantage/client';

import { watchCheck } from './watch-check.ts';

const problem = { type: '/problems/x', title: 'X', status: 503, detail: 'No store.', instance: '/', requestId: 'r' };

type Asked = Parameters<Client['startCheck']>[0];

/** Watches a service that has one answer per `POST /check`; stops after this many lines. */
async function watched(answers: readonly (string | Error)[], lines: number, json = false, selection: object = {}) {
  const [written, complaints, asked]: [string[], string[], Asked[]] = [[], [], []];
  const stopping = new AbortController();
  let next = 0;
  const client = {
    startCheck: async (request: Asked) => {
      asked.push(request);
      const answer = answers[next++] ?? 'success';
      if (typeof answer !== 'string') throw answer;
      const none = JSON.stringify(request).includes('"jp"') ? '; no probe at "jp\u001B" can run it' : '';
      return { checkId: answer, message: `The ping check runs from 2 probes${none}.` };
    },
    results: async (checkId: string) => {
      const { probes = ['fra-1', 'nyc-1'] } = asked.at(-1) as { readonly probes?: readonly string[] };
      const results = probes.map((probe) => [probe, { result: probe === 'fra-1' ? checkId : 'success' }]);
      return { status: 'completed', results: Object.fromEntries(results) };
    },
    summary: async () => ({ verdict: 'up', headline: 'It answers.\u001B' }),
  } as unknown as Client;
  const note = (kept: string[]) => (line: string) => {
    kept.push(line);
    if (written.length + complaints.length === lines) stopping.abort();
  };
  const status = await watchCheck({
    request: { type: 'ping', host: 'a.example', ...selection },
    everySeconds: 0.001,
    json,
    client,
    write: note(written),
    complain: note(complaints),
    signal: stopping.signal,
  });
  return { status, written, complaints, asked };
}

describe('a watched check', () => {
  it('is one line per run, and its status is that of the last', async () => {
    const { status, written } = await watched(['success', 'success', 'failure'], 3);

    expect(written).toHaveLength(3);
    expect(written[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}up {8}It answers\.\S+$/);
    expect(written[0]).not.toContain('\u001B');
    expect(status).toBe(1);
  });

  it('says at the first run which of the locations have no probe', async () => {
    const { complaints, written } = await watched([], 3, false, { locations: ['de', 'jp'] });

    expect(written).toHaveLength(2);
    expect(complaints).toEqual([
      expect.stringMatching(/Z {2}The ping check runs .* no probe at "jp\S+" can run it\.$/),
    ]);
    expect(complaints[0]).not.toContain('\u001B');
  });

  it('is one JSON document per line where that is asked for', async () => {
    const { written } = await watched([], 2, true);

    expect(written.map((line) => JSON.parse(line) as object)).toEqual([
      { status: 'completed', results: { 'fra-1': { result: 'success' }, 'nyc-1': { result: 'success' } } },
      { status: 'completed', results: { 'fra-1': { result: 'success' }, 'nyc-1': { result: 'success' } } },
    ]);
  });

  it('goes on after a service that is away, and ends with a refusal', async () => {
    const away = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const refused = new ProblemError(403, { ...problem, status: 403, detail: 'Private.' }, undefined);

    const { status, written, complaints } = await watched(
      [away, new ProblemError(503, problem, 0), 'success', refused],
      9,
    );

    expect(written).toHaveLength(1);
    expect(complaints.map((line) => line.slice(22))).toEqual([
      'fetch failed: connect ECONNREFUSED',
      'No store.',
      'Private.',
    ]);
    expect(status).toBe(2);
  });

  it('is measured from the probes of its first run, so that runs differ by time alone', async () => {
    const { asked } = await watched([], 3, false, { locations: ['DE', 'US'], limit: 2 });

    const pinned = { type: 'ping', host: 'a.example', probes: ['fra-1', 'nyc-1'] };
    expect(asked).toEqual([{ type: 'ping', host: 'a.example', locations: ['DE', 'US'], limit: 2 }, pinned, pinned]);
  });

  it('goes on without a probe that was removed, and says so', async () => {
    const errors = [{ path: '/probes/0', message: 'there is no probe "fra-1"' }];
    const removed = new ProblemError(400, { ...problem, status: 400, errors }, undefined);

    const { asked, complaints, status } = await watched(['success', removed, 'success'], 4, false, { limit: 2 });

    expect(complaints.map((line) => line.slice(22))).toEqual([
      'there is no probe "fra-1"; the watch goes on without it',
    ]);
    expect(asked.map((request) => 'probes' in request && request.probes)).toEqual([
      false,
      ['fra-1', 'nyc-1'],
      ['nyc-1'],
      ['nyc-1'],
    ]);
    expect(status).toBe(0);
  });

  it('ends if all its probes were removed', async () => {
    const errors = [
      { path: '/probes/0', message: 'there is no probe "fra-1"' },
      { path: '/probes/1', message: 'x' },
    ];
    const removed = new ProblemError(400, { ...problem, status: 400, errors }, undefined);

    expect(await watched(['success', removed], 9)).toMatchObject({ status: 2, written: { length: 1 } });
  });
});
