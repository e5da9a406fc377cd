import { describe, expect, it } from '@jest/globals';

import { encodeHpack, hpackDecoder } from './hpack.ts';

/** The examples of RFC 7541 appendix C.6: three responses on one connection, with Huffman coding. */
const examples: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
    [
      [':status', '302'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ],
  ],
  [
    '4883640effc1c0bf',
    [
      [':status', '307'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ],
  ],
];

describe('HPACK', () => {
  it('is decoded as the RFC has it, one block after the other', () => {
    const decode = hpackDecoder(4096);

    for (const [hex, fields] of examples) expect(decode(Buffer.from(hex, 'hex'))).toEqual({ fields, fault: null });
  });

  it('is decoded as it was encoded', () => {
    const fields = [
      ['x-empty', ''],
      ['x-long', 'a'.repeat(20_000)],
      [':path', '/'],
    ] as const;

    expect(hpackDecoder(65_536)(encodeHpack(fields))).toEqual({ fields, fault: null });
  });

  it.each<[string, string]>([
    ['an entry that is not there', 'ff80ffffff0f'],
    ['the entry 0', '80'],
    ['an integer without end', 'ffffffffffffffffffff'],
    ['a string beyond the block', '00037841'],
    ['Huffman padding of zeros', '00810000'],
    ['Huffman with EOS', '0084ffffffff00'],
    ['a table larger than was allowed', '3fe2ff03'],
    ['a name without a value', '000161'],
  ])('is refused with %s', (_reason, hex) => {
    expect(hpackDecoder(4096)(Buffer.from(hex, 'hex'))).toEqual({ fault: 'malformed' });
  });

  it('is bounded by what it unpacks to', () => {
    const field = encodeHpack([['x', 'a'.repeat(1000)]]);

    expect(hpackDecoder(2000)(Buffer.concat([field, field]))).toEqual({ fault: 'too large' });
  });

  it('comes to an end with any bytes', () => {
    let state = 7;
    const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24;
    const faults = new Set<string | null>();
    for (let round = 0; round < 20_000; round += 1) {
      const block = Buffer.from(Array.from({ length: 1 + (round % 40) }, random));

      faults.add(hpackDecoder(4096)(block).fault);
    }
    expect(faults).toEqual(new Set(['malformed', null]));
  });
});
