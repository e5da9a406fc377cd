import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';

import { expect, it } from '@jest/globals';
import type { Request, Response } from 'express';

import { paceRequests, PER_TURN } from '../http/limits/pace-requests.ts';
import { observeRequests, type SeenRequest } from './observe-requests.ts';

/** The counts for a response with these headers. */
function seenOf(
  { method = 'GET' }: { readonly method?: string },
  answer: { readonly statusCode: number; readonly problem?: string; readonly policy?: string },
): SeenRequest | undefined {
  let seen: SeenRequest | undefined;
  const { handler } = observeRequests((one) => (seen = one));
  const response = Object.assign(new EventEmitter(), {
    statusCode: answer.statusCode,
    locals: { problem: answer.problem },
    getHeader: (name: string) => (name === 'ratelimit-policy' ? answer.policy : undefined),
  });
  const request: Partial<Request> = { method, query: {} };
  handler(request as Request, response as unknown as Response, () => undefined);
  response.emit('close');
  return seen;
}

const follow = '"follow-check"; q=120; w=60';

it.each([
  ['of its endpoint', { statusCode: 429, problem: 'rate-limited', policy: follow }, 'follow-check'],
  ['of its target', { statusCode: 429, problem: 'rate-limited', policy: `${follow}, "target"; q=1; w=60` }, 'target'],
  ['of open event streams', { statusCode: 429, problem: 'too-many-streams', policy: follow }, 'too-many-streams'],
  ['that is none', { statusCode: 200, policy: follow }, undefined],
])('a request is counted as refused by the limit %s', (_of, answer, limit) => {
  expect(seenOf({}, answer)?.limit).toBe(limit);
});

it('counts the time that a request waited for its turn', async () => {
  const seen: SeenRequest[] = [];
  const { handler } = observeRequests((one) => seen.push(one));
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = paceRequests(new EventEmitter() as Server, (request) => {
    if (request.url !== 'last') return;
    const response = Object.assign(new EventEmitter(), { statusCode: 200, locals: {}, getHeader: () => undefined });
    handler(request as Request, response as unknown as Response, () => undefined);
    response.emit('close');
    resolve();
  });
  for (const url of [...Array.from({ length: PER_TURN }, String), 'last']) {
    take({ url, method: 'GET', query: {}, socket: {} } as unknown as Request, {} as Response);
  }
  const until = performance.now() + 20;
  while (performance.now() < until);
  await promise;
  expect(seen[0]?.durationMs).toBeGreaterThanOrEqual(20);
});

it.each([
  ['PUT', 'PUT'],
  ['DELETE', 'DELETE'],
  ['PURGE', 'other'],
])('the method %s is counted as %s', (method, counted) => {
  expect(seenOf({ method }, { statusCode: 200 })?.method).toBe(counted);
});
