import { describe, expect, it } from '@jest/globals';

import { createAttemptLimit, type Attempt, type AttemptEnd, type AttemptLimit } from './attempt-limit.ts';

function attempt(limit: AttemptLimit, address: string, how: AttemptEnd): boolean {
  const begun: Attempt = limit.begin(address);
  if (begun.admitted) begun.end(how);
  return begun.admitted;
}

describe('the limit of failed identifications', () => {
  it('refuses an address after thirty failures, and no other one, until the minute is over', () => {
    let now = 0;
    const limit = createAttemptLimit(() => now);

    const admitted = Array.from({ length: 40 }, () => attempt(limit, '192.0.2.1', 'refused'));

    expect(admitted.filter(Boolean)).toHaveLength(30);
    expect(attempt(limit, '192.0.2.2', 'identified')).toBe(true);
    const refused = limit.begin('192.0.2.1');
    expect(refused).toEqual({ admitted: false, retryAfterMs: 60_000 });
    now = 60_000;
    expect(attempt(limit, '192.0.2.1', 'identified')).toBe(true);
  });

  it('admits any number of agents of one address that identify themselves', () => {
    const limit = createAttemptLimit(() => 0);

    expect(Array.from({ length: 5_000 }, () => attempt(limit, '192.0.2.1', 'identified'))).not.toContain(false);
  });

  it('admits an address whose agents left a stalled gateway again and again, and not without end', () => {
    const limit = createAttemptLimit(() => 0);
    const admitted = Array.from({ length: 3_000 }, () => attempt(limit, '192.0.2.1', 'abandoned'));

    expect(admitted.filter(Boolean)).toHaveLength(1_920);
  });

  it('admits as many handshakes at once as their failures may cost', () => {
    const limit = createAttemptLimit(() => 0);
    const open = Array.from({ length: 100 }, () => limit.begin('192.0.2.1'));
    const admitted = open.filter((one) => one.admitted);

    expect(admitted).toHaveLength(64);
    for (const one of admitted) one.end('identified');
    for (const one of admitted) one.end('refused');
    expect(attempt(limit, '192.0.2.1', 'identified')).toBe(true);
  });

  it('forgets addresses, those of long ago first', () => {
    let now = 0;
    const limit = createAttemptLimit(() => now);
    for (let index = 0; index < 60_000; index += 1) {
      now += 1;
      attempt(limit, `address ${index}`, 'refused');
    }
    for (let more = 0; more < 30; more += 1) attempt(limit, 'address 59999', 'refused');

    expect(limit.begin('address 59999').admitted).toBe(false);
    expect(limit.begin('address 0').admitted).toBe(true);
  });
});
