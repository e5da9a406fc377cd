import { EventEmitter, getEventListeners } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';

import { untilGone } from './until-gone.ts';

const response = (): Response => new EventEmitter() as unknown as Response;

describe('the signal of a response', () => {
  it('aborts when the response closes, and no other does', () => {
    const stopping = new AbortController().signal;
    const [first, second] = [response(), response()];
    const signals = [untilGone(first, stopping), untilGone(second, stopping)];
    first.emit('close');

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('aborts when the service stops, or has stopped', () => {
    const stopping = new AbortController();
    const signal = untilGone(response(), stopping.signal);
    stopping.abort();

    expect(signal.aborted).toBe(true);
    expect(untilGone(response(), stopping.signal).aborted).toBe(true);
  });

  it('adds no listener per response to the signal of the service, which would look through all of them', () => {
    const stopping = new AbortController().signal;
    for (let count = 0; count < 3; count += 1) untilGone(response(), stopping);

    expect(getEventListeners(stopping, 'abort')).toHaveLength(1);
  });
});
