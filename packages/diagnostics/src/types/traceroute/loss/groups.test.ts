import { describe, expect, it } from '@jest/globals';

import { groupsOf, isClean, isLimited, isProved, type SpacedPacket } from './groups.ts';

/** Packets in groups, one word for each group: `.` answered, `*` not, `?` awaited, `x` left out. */
function packets(text: string, apartMs = 0.1): SpacedPacket[] {
  return text.split(' ').flatMap((marks, group) =>
    Array.from(marks, (mark, index) => {
      const sentMs = group * 1_100 + index * apartMs;
      const packet: SpacedPacket = { group, sentMs, isSettled: mark !== '?', isLeftOut: mark === 'x' };
      return mark === '.' ? { ...packet, receivedMs: sentMs + 20 } : packet;
    }),
  );
}

const seen = (text: string): object => {
  const groups = groupsOf(packets(text));
  return { proved: isProved(groups), limited: isLimited(groups), clean: isClean(groups, 2) };
};

describe('groups of packets', () => {
  it.each([
    ['without loss', '.... ....', { proved: false, limited: false, clean: true }],
    ['of which some were lost', '.*.. .... *..*', { proved: true, limited: false, clean: false }],
    [
      'with one order alone that no limit has',
      '.*.. ...* ..** **** ...*',
      { proved: false, limited: false, clean: false },
    ],
    ['in the order of a limit', '...* **** ..** ...*', { proved: false, limited: true, clean: false }],
    ['of single packets', '. * . * . * *', { proved: false, limited: false, clean: false }],
  ])('%s are known', (_reason, text, expected) => {
    expect(seen(text)).toEqual(expected);
  });

  it.each([
    ['an answer is awaited', packets('.*?.')],
    ['a packet may have missed its answer', packets('.x..')],
    ['they did not leave together', packets('.*..', 3)],
  ])('are left out if %s', (_reason, group) => {
    expect(groupsOf(group).groups).toEqual([]);
  });

  it('prove nothing if packets overtake each other', () => {
    const group = packets('.*.. *..*');
    group[2]!.receivedMs = group[0]!.receivedMs! - 1;

    expect(groupsOf(group).reordered).toBe(1);
    expect(isProved(groupsOf(group))).toBe(false);
  });
});
