import { MessageFormatError, encodeQuery } from '@vantage/contract/dns-message';
import { seeded } from '@vantage/test-support/random/seeded';
import { readPresentedMessage } from '../src/types/dns/codec/message.ts';

import { optRecord, readQuery, respond } from '@vantage/test-support/dns/wire';
import { sampleRecords } from '@vantage/test-support/dns/samples';

/** Hostile DNS messages, the same for the same seed. */
export interface HostileMessages {
  /** Uniformly random octets. */
  readonly random: () => Uint8Array;
  /** A valid message with some octets changed, and perhaps its end cut off. */
  readonly mutated: () => Uint8Array;
}

export function hostileMessages(seed: number): HostileMessages {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return {
    random: () => Uint8Array.from({ length: below(600) }, () => below(256)),
    mutated: () => {
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
    },
  };
}

/** Outcome of decoding a message: `read`, `refused` (completely or in part), or a description of the fault. */
export function decodeHostile(bytes: Uint8Array): string {
  try {
    const message = readPresentedMessage(bytes);
    for (const { name, data } of [...message.answers, ...message.authority, ...message.additional]) {
      if (/[^\x20-\x7e]/.test(name + data)) return 'unprintable';
    }
    return message.formatError === null ? 'read' : 'refused';
  } catch (error) {
    return error instanceof MessageFormatError ? 'refused' : String(error);
  }
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
