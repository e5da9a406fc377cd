import { describe, expect, it } from '@jest/globals';

import { slotOf } from './slot.ts';

describe('the slot of a key', () => {
  it.each([
    // Expected values are those of `CLUSTER KEYSLOT`.
    ['the check value of CRC16-XMODEM', '123456789', 12_739],
    ['a key without a tag', 'deadlines', 12_573],
    ['a key with a tag', 'p:{demo-1}:res', 8_948],
    ['another key with the same tag', 'p:{demo-1}:jobs:wait', 8_948],
    ['an empty tag, which is none', 'foo{}{bar}', 8_363],
  ])('is what Redis says: %s', (_reason, key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });
});
