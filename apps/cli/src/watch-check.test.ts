import { describe, expect, it } from '@jest/globals';
import { ProblemError, type Client } from '@vantage/client';

import { watchCheck } from './watch-check.ts';

const problem = { type: '/problems/x', title: 'X', status: 503, detail: 'No store.', instance: '/', requestId: 'r' };

/** Watches a service that has one answer per `POST /check`; stops after this many lines. */
async function watched(answers: readonly (string | Error)[], lines: number, json = false) {
  const [written, complaints]: [string[], string[]] = [[], []];
  const stopping = new AbortController();
  let next = 0;
  const client = {
    startCheck: async () => {
      const answer = answers[next++] ?? 'success';
      if (typeof answer !== 'string') throw answer;
      return { checkId: answer };
    },
    results: async (checkId: string) => ({ status: 'completed', results: { 'fra-1': { result: checkId } } }),
    summary: async () => ({ verdict: 'up', headline: 'It answers.\u001B' }),
  } as unknown as Client;
  const note = (kept: string[]) => (line: string) => {
    kept.push(line);
    if (written.length + complaints.length === lines) stopping.abort();
  };
  const status = await watchCheck({
    request: { type: 'ping', host: 'a.example' },
    everySeconds: 0.001,
    json,
    client,
    write: note(written),
    complain: note(complaints),
    signal: stopping.signal,
  });
  return { status, written, complaints };
}

describe('a watched check', () => {
  it('is one line per run, and its status is that of the last', async () => {
    const { status, written } = await watched(['success', 'success', 'failure'], 3);

    expect(written).toHaveLength(3);
    expect(written[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}up {8}It answers\.\S+$/);
    expect(written[0]).not.toContain('\u001B');
    expect(status).toBe(1);
  });

  it('is one JSON document per line where that is asked for', async () => {
    const { written } = await watched([], 2, true);

    expect(written.map((line) => JSON.parse(line) as object)).toEqual([
      { status: 'completed', results: { 'fra-1': { result: 'success' } } },
      { status: 'completed', results: { 'fra-1': { result: 'success' } } },
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
});
