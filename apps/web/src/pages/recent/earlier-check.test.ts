import { describe, expect, it } from '@jest/globals';

import { earlierOf } from './earlier-check.ts';

const tcp = (id: string, minute: number, port: number, verdict = 'up') => ({
  id,
  type: 'tcp',
  host: 'www.example.com',
  at: `2026-12-01T10:${minute}:00.000Z`,
  verdict,
  request: { type: 'tcp', host: 'www.example.com', port },
});

describe('the check before a recent one', () => {
  // A check whose link was opened later is further up.
  const [opened, newest, other, gone, older] = [
    tcp('opened', 10, 443),
    tcp('newest', 50, 443),
    tcp('other', 40, 80),
    tcp('gone', 30, 443, 'gone'),
    tcp('older', 20, 443),
  ] as const;
  const all = [opened, newest, other, gone, older];

  it('was started before it, is of the same port and still kept', () => {
    expect(earlierOf(newest, all)).toBe(older);
    expect(earlierOf(older, all)).toBe(opened);
  });

  it.each([
    ['the first one, though it was opened last', opened],
    ['one of another port', other],
    ['one that is gone', gone],
  ])('does not exist for %s', (_what, check) => {
    expect(earlierOf(check, all)).toBeUndefined();
  });
});
