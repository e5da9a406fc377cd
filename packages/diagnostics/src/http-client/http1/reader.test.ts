import { describe, expect, it } from '@jest/globals';

import { rawAnswers } from '../../../test/http-corpus.ts';
import { Http1Reader } from './reader.ts';

/** Events of a reader for these pieces: bodies joined, each deviation once. */
function eventsOf(pieces: readonly Buffer[], method: 'GET' | 'HEAD' = 'GET'): readonly unknown[] {
  const events: unknown[] = [];
  const deviations = new Set<string>();
  let body = '';
  const reader = new Http1Reader(method, {
    interim: (head) => events.push(['interim', head]),
    head: (head) => events.push(['head', head]),
    body: (bytes) => (body += Buffer.from(bytes).toString('latin1')),
    end: () => events.push('end'),
    cut: () => events.push('cut'),
    fault: (fault) => events.push(fault),
    deviation: (code) => deviations.add(code),
  });
  for (const piece of pieces) reader.push(piece);
  reader.close(true);
  return [...events, body, [...deviations], reader.partialHead()];
}

describe('the reader of an answer', () => {
  it.each(rawAnswers.filter(({ bytes }) => bytes.length < 60_000))(
    'does not mind how the bytes are cut: $name',
    ({ bytes, method }) => {
      const whole = Buffer.from(bytes, 'latin1');
      const single = Array.from(whole, (byte) => Buffer.from([byte]));
      const pairs = Array.from({ length: Math.ceil(whole.length / 2) }, (_, at) => whole.subarray(at * 2, at * 2 + 2));

      expect(eventsOf(single, method)).toEqual(eventsOf([whole], method));
      expect(eventsOf(pairs, method)).toEqual(eventsOf([whole], method));
    },
  );

  it('comes to an end with any bytes', () => {
    const random = seeded(5);
    const parts = [
      'HTTP/1.1 200 OK',
      'HTTP/1.1 100 x',
      '\r\n',
      '\n',
      '\r',
      ' ',
      ':',
      'A: b',
      '\0',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      '5',
      ';x',
      '0',
      'ok',
      'ffffffffffff',
    ];
    const ends = new Set<unknown>();
    const wrong: string[] = [];
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: 1 + random(24) }, () => parts[random(parts.length)]).join('');

      const events = eventsOf([Buffer.from(`HTTP/1.1 200 OK\r\n${text}`, 'latin1')]);

      const last = events.filter((event) => event === 'end' || (event as { kind?: string } | null)?.kind !== undefined);
      if (last.length !== 1) wrong.push(text);
      ends.add(JSON.stringify(last));
    }
    expect(wrong).toEqual([]);
    expect(ends.size).toBeGreaterThan(4);
  });

  it.each<[string, string, string, string]>([
    ['a fold becomes a space', 'X-A: a\r\n  b\r\n\tc', 'X-A', 'a b c'],
    ['CR becomes a space', 'X-A: a\rb', 'X-A', 'a b'],
    ['spaces around a value are none of it', 'X-A: \t a \t', 'X-A', 'a'],
    ['a space before the colon is not part of the name', 'X-A : a', 'X-A', 'a'],
    ['other control characters stay', 'X-A: a\u0001b', 'X-A', 'a\u0001b'],
  ])('%s', (_reason, line, name, value) => {
    const events = eventsOf([Buffer.from(`HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`, 'latin1')]);

    expect(events[0]).toMatchObject(['head', { rawHeaders: [name, value, 'Content-Length', '0'] }]);
  });
});

/** Pseudo-random numbers, the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
