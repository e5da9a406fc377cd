import { describe, expect, it } from '@jest/globals';

import { endingWithStream } from './ending-with-stream.ts';

interface Request {
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

describe('the request of a client that follows its check', () => {
  it.each<readonly [string, Request, boolean | undefined]>([
    ['rounds', { type: 'traceroute', options: { rounds: 2 } }, true],
    ['rounds that run to their end', { type: 'traceroute', options: { rounds: 2, endWithStream: false } }, false],
    ['a trace without rounds', { type: 'traceroute', options: { flows: 4 } }, undefined],
    ['a long ping', { type: 'ping', options: { count: 16 } }, true],
    ['a ping by default', { type: 'ping' }, undefined],
    ['a check that has no such option', { type: 'tcp', options: { count: 16 } }, undefined],
  ])('ends with its stream if it has parts to end: %s', (_of, request, ends) => {
    expect(endingWithStream(request).options?.['endWithStream']).toBe(ends);
  });
});
