import { describe, expect, it } from '@jest/globals';

import { circledOnce, circling, lone } from '../../../test/finding-cases/onward.ts';

const found = ({ findings }: typeof circling): readonly string[] =>
  findings.map(({ code, severity, text }) => `${severity} ${code}: ${text}`);

describe('packets that go round in a circle in some rounds', () => {
  const where = 'Packets to the target went round in a circle of 192.0.2.2 and 192.0.2.3 during the check';
  const why = 'the routers there disagreed about the way.';

  it('do not reach the target any more', () => {
    expect(circling.verdict).toBe('degraded');
    expect(circling.headline).toBe(
      'example.com is reached from the one probe asked, but packets went round in a circle in rounds 6 to 12 of 12 of fra-1.',
    );
    expect(found(circling)).toEqual([
      `critical routing_loop: ${where}, in rounds 6 to 12 of 12 of fra-1, and did not reach it any more: ${why}`,
    ]);
  });

  it('are not what one router shows that answers for all hops', () => {
    expect(lone.verdict).toBe('degraded');
    expect(lone.headline).toContain(', but one router answered for all hops in rounds 6 to 12 of 12 of fra-1.');
    expect(found(lone)).toEqual([
      'critical routing_loop: One router, 192.0.2.3, answered the packets to the target as if the TTL of all ended there during the check, in rounds 6 to 12 of 12 of fra-1, and they did not reach the target any more: they came back to it again and again, or something before it set their TTL.',
    ]);
  });

  it('may reach it again later', () => {
    expect(circledOnce.verdict).toBe('degraded');
    expect(found(circledOnce)).toEqual([
      `warning routing_loop: ${where}, in rounds 6 to 9 of 12 of fra-1, and reached it again later: ${why}`,
    ]);
  });
});
