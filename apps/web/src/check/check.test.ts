import { describe, expect, it } from '@jest/globals';

import { asCurl, asMarkdown } from './copies.ts';
import { codeWords, columnsOf } from './columns.ts';
import { sortRows } from './sort-rows.ts';
import type { ShownCheck } from './use-check.ts';

const check: ShownCheck = {
  ...{ testId: 'qPUXvL1sQx2rGJm0Zf7N4w', type: 'tcp', host: "exa'mple.com", status: 'completed' },
  ...{ createdAt: '2026-11-21T01:00:00.000Z', completedAt: '2026-11-21T01:00:01.000Z' },
  results: {
    'fra-2': { result: 'success', rt: 12.5, resolvedIp: '192.0.2.1', error: null, state: 'open' },
    'fra-10': { result: 'success', rt: 2.5, resolvedIp: '192.0.2.1', error: null, state: 'open' },
    'nyc-1': {
      ...{ result: 'failure', rt: null, resolvedIp: '[x](javascript:y)|' },
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

    expect(lines[0]).toBe("**tcp exa'mple.com**");
    expect(lines).toContain('| Probe | Outcome | State | Handshake | Address |');
    expect(lines).toContain('| fra-2 | Success | open | 12.5 ms | 192.0.2.1 |');
    expect(lines).toContain(String.raw`| nyc-1 | Connection refused | – | – | \[x\](javascript:y)\| |`);
    expect(lines.at(-1)).toBe('https://vantage.example/c/qPUXvL1sQx2rGJm0Zf7N4w (2026-11-21T01:00:00.000Z)');
  });
});

describe('the rows of the table', () => {
  const order = (key: string | undefined, isDown = false): string[] =>
    sortRows(Object.entries(check.results), columnsOf('tcp'), key === undefined ? undefined : { key, isDown }).map(
      ([id]) => id,
    );

  it.each([
    ['by name, as people count', undefined, false, ['fra-2', 'fra-10', 'nyc-1']],
    ['by name, down', 'probe', true, ['nyc-1', 'fra-10', 'fra-2']],
    ['by a number', 'rt', false, ['fra-10', 'fra-2', 'nyc-1']],
    ['by a number, down, what is missing still last', 'rt', true, ['fra-2', 'fra-10', 'nyc-1']],
    ['by outcome, what failed first', 'result', false, ['nyc-1', 'fra-2', 'fra-10']],
    ['by a column that is not there', 'x', false, ['fra-2', 'fra-10', 'nyc-1']],
  ])('sort %s', (_reason, key, isDown, ids) => {
    expect(order(key, isDown)).toEqual(ids);
  });

  it('have columns for every type, and the common ones for a type that is not known', () => {
    expect(columnsOf('whois').map(({ title }) => title)).toEqual(['Outcome', 'Time', 'Address']);
    expect(codeWords('tls_handshake_failed')).toBe('TLS handshake failed');
  });
});
