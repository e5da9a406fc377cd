import { describe, expect, it } from '@jest/globals';

import { optRecord, readQuery, respond } from '../../../test/dns-wire.ts';
import { sampleRecords } from '../../../test/dns-samples.ts';
import { MessageFormatError } from './format-error.ts';
import { decodeMessage, encodeQuery } from './message.ts';

/** Numbers from 0 to 1, the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_00_00_00_00;
  };
}

const random = seeded(0x5eed);
const below = (limit: number): number => Math.floor(random() * limit);

function randomMessage(): Uint8Array {
  return Uint8Array.from({ length: below(600) }, () => below(256));
}

const query = readQuery(
  encodeQuery({
    id: 1,
    name: 'example.com.',
    recordType: { code: 1, name: 'A' },
    recursionDesired: true,
    checkingDisabled: false,
    edns: null,
  }),
);

/** A valid message with some octets changed, and perhaps its end cut off. */
function mutatedMessage(): Uint8Array {
  const answers = Array.from({ length: 1 + below(6) }, () => {
    const sample = sampleRecords[below(sampleRecords.length)]!;
    return { name: 'example.com', type: sample.code, data: sample.data };
  });
  const bytes = respond(query, { answers, additional: [optRecord([0, 3, 0, 1, 0x61])] });
  for (let changes = 1 + below(8); changes > 0; changes--) {
    const at = below(bytes.length);
    bytes[at] = below(4) === 0 ? 0xc0 | below(64) : below(256);
  }
  return below(4) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes;
}

/** The name of what was thrown, `read` for a message that could be read. */
function decode(bytes: Uint8Array): string {
  try {
    const message = decodeMessage(bytes);
    for (const { name, data } of [...message.answers, ...message.authority, ...message.additional]) {
      if (/[^\x20-\x7e]/.test(name + data)) return 'unprintable';
    }
    return 'read';
  } catch (error) {
    return error instanceof MessageFormatError ? 'refused' : String(error);
  }
}

describe('whatever the bytes are', () => {
  it.each([
    ['random', randomMessage],
    ['mutated', mutatedMessage],
  ])('%s messages are read or refused by the one typed error, as printable ASCII', (_kind, make) => {
    const outcomes = new Map<string, number>();
    for (let round = 0; round < 5_000; round++) {
      const outcome = decode(make());
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }

    expect([...outcomes.keys()].filter((outcome) => outcome !== 'read' && outcome !== 'refused')).toEqual([]);
    expect(outcomes.get('refused')).toBeGreaterThan(0);
  });

  it('mutations leave messages of both kinds', () => {
    const outcomes = new Set(Array.from({ length: 500 }, () => decode(mutatedMessage())));

    expect([...outcomes].toSorted()).toEqual(['read', 'refused']);
  });
});
