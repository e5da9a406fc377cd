import { describe, expect, it } from '@jest/globals';

import { frame, frameReader, MAX_FRAME_BYTES } from './frames.ts';

describe('frames', () => {
  it('come out whole, in whatever pieces they come in', () => {
    const bodies = [Buffer.from('a'), Buffer.alloc(MAX_FRAME_BYTES, 7), Buffer.from('the third')];
    const stream = Buffer.concat(bodies.map(frame));
    for (const step of [1, 3, 1_000, stream.length]) {
      const reader = frameReader();
      const out: Buffer[] = [];
      for (let at = 0; at < stream.length; at += step) out.push(...reader.push(stream.subarray(at, at + step)));

      expect(Buffer.concat(out)).toEqual(Buffer.concat(bodies));
      expect(out).toHaveLength(3);
    }
  });

  it.each([0, MAX_FRAME_BYTES + 1, 0xffff_ffff])('of an impossible length of %i are refused', (length) => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(length);

    expect(() => frameReader().push(header)).toThrow(RangeError);
  });

  it('are not made longer than they may be', () => {
    expect(() => frame(Buffer.alloc(MAX_FRAME_BYTES + 1))).toThrow(RangeError);
    expect(() => frame(Buffer.alloc(0))).toThrow(RangeError);
  });
});
