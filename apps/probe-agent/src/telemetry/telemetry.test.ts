import { describe, expect, it } from '@jest/globals';

import { missing } from './telemetry.ts';

const to = (name: string, status: string) => ({ [name]: { status, on: () => undefined } });

describe('an agent that takes no jobs', () => {
  it.each([
    ['starts', undefined, ['The agent starts.']],
    [
      'has no connection to a gateway',
      { connections: to('gateway', 'connecting'), running: () => 0 },
      ['There is no connection to a gateway.'],
    ],
    [
      'is away from Redis, or suspended there',
      { connections: { ...to('jobs', 'reconnecting'), ...to('results', 'ready') }, running: () => 0 },
      ['There is no connection to Redis: it is away, or refuses the login of this agent.'],
    ],
    [
      'waits for its operator',
      { connections: to('gateway', 'ready'), running: () => undefined },
      ['The agent takes no jobs yet.'],
    ],
    ['does take them', { connections: to('gateway', 'ready'), running: () => 0 }, []],
  ])('%s', (_why, watched, reasons) => {
    expect(missing(watched)).toEqual(reasons);
  });
});
