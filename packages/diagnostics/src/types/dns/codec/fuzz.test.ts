import { describe, expect, it } from '@jest/globals';

import { decodeHostile, hostileMessages } from '../../../../test/dns-fuzz.ts';

const messages = hostileMessages(0x5eed);

describe('whatever the bytes are', () => {
  it.each(['random', 'mutated'] as const)(
    '%s messages are read or refused by the one typed error, as printable ASCII',
    (kind) => {
      const outcomes = new Map<string, number>();
      for (let round = 0; round < 5_000; round++) {
        const outcome = decodeHostile(messages[kind]());
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }

      expect([...outcomes.keys()].filter((outcome) => outcome !== 'read' && outcome !== 'refused')).toEqual([]);
      expect(outcomes.get('refused')).toBeGreaterThan(0);
    },
  );

  it('mutations leave messages of both kinds', () => {
    const outcomes = new Set(Array.from({ length: 500 }, () => decodeHostile(messages.mutated())));

    expect([...outcomes].toSorted()).toEqual(['read', 'refused']);
  });
});
