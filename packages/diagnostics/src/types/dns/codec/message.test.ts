import { MessageFormatError, type Query, encodeQuery } from '@vantage/contract/dns-message';
import { describe, expect, it } from '@jest/globals';

import {
  addressRecord,
  FLAGS,
  optRecord,
  readQuery,
  respond,
  u16,
  u32,
  wireName,
} from '@vantage/test-support/dns/wire';

import { decodeMessage, readPresentedMessage } from './message.ts';

const query: Query = {
  id: 0x1234,
  name: 'www.example.com.',
  recordType: { code: 1, name: 'A' },
  recursionDesired: true,
  checkingDisabled: false,
  edns: { dnssecOk: false, nsid: false },
};

describe('a query', () => {
  it('holds one question, asks for recursion and the verdict, and offers 1232 bytes over UDP', () => {
    const bytes = encodeQuery(query);

    const read = readQuery(bytes);
    expect(read).toMatchObject({ id: 0x1234, flags: FLAGS.rd | FLAGS.ad, name: 'www.example.com.', type: 1 });
    expect([...bytes.subarray(4, 12)]).toEqual([0, 1, 0, 0, 0, 0, 0, 1]);
    expect([...read.rest]).toEqual([0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0]);
  });

  it('carries the DO and CD bits and an empty NSID option when they are asked for', () => {
    const bytes = encodeQuery({ ...query, checkingDisabled: true, edns: { dnssecOk: true, nsid: true } });

    const read = readQuery(bytes);
    expect(read.flags & FLAGS.cd).toBe(FLAGS.cd);
    expect([...read.rest]).toEqual([0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 4, 0, 3, 0, 0]);
  });

  it('has no OPT record without EDNS', () => {
    const bytes = encodeQuery({ ...query, edns: null });

    expect(readQuery(bytes).rest).toHaveLength(0);
    expect([...bytes.subarray(10, 12)]).toEqual([0, 0]);
  });
});

describe('an answer', () => {
  it('gives its flags, its sections and what EDNS adds to the rcode', () => {
    const nsid = [0, 3, 0, 4, ...Buffer.from('ns-1')];
    const extendedError = [0, 15, 0, 5, 0, 7, ...Buffer.from('old')];
    const bytes = respond(readQuery(encodeQuery(query)), {
      flags: FLAGS.rd | FLAGS.ra | FLAGS.ad,
      answers: [addressRecord('www.example.com', '192.0.2.1')],
      authority: [{ name: 'example.com', type: 2, data: Uint8Array.from(wireName('ns.example.com')) }],
      additional: [optRecord([...nsid, ...extendedError], 0x01_00_80_00), addressRecord('ns.example.com', '192.0.2.2')],
    });

    const message = decodeMessage(bytes);

    expect(message).toMatchObject({
      id: 0x1234,
      flags: ['qr', 'rd', 'ra', 'ad'],
      rcode: 16,
      answers: [{ name: 'www.example.com.', type: 'A', ttl: 300, data: '192.0.2.1' }],
      authority: [{ name: 'example.com.', type: 'NS', ttl: 300, data: 'ns.example.com.' }],
      additional: [{ name: 'ns.example.com.', type: 'A', ttl: 300, data: '192.0.2.2' }],
      edns: { version: 0, udpBytes: 1232, dnssecOk: true, extendedErrors: [{ code: 7, text: 'old' }] },
      omitted: 0,
    });
    expect(Buffer.from(message.edns?.nsid ?? []).toString()).toBe('ns-1');
  });

  it('reads names that are compressed', () => {
    const header = [...u16(1), ...u16(0x8180), ...u16(1), ...u16(1), ...u16(0), ...u16(0)];
    const question = [...wireName('example.com'), ...u16(15), ...u16(1)];
    // mx.example.com, of which example.com is a pointer to the question.
    const data = [...u16(10), 2, ...Buffer.from('mx'), 0xc0, 12];
    const record = [0xc0, 12, ...u16(15), ...u16(1), ...u32(60), ...u16(data.length), ...data];

    const message = decodeMessage(Uint8Array.from([...header, ...question, ...record]));

    expect(message.answers).toEqual([{ name: 'example.com.', type: 'MX', ttl: 60, data: '10 mx.example.com.' }]);
  });

  it('counts the records past the hundredth and reads none of them', () => {
    const answers = Array.from({ length: 120 }, () => addressRecord('www.example.com', '192.0.2.1'));

    const message = decodeMessage(respond(readQuery(encodeQuery(query)), { answers }));

    expect(message.answers).toHaveLength(100);
    expect(message.omitted).toBe(20);
  });
});

/** A message with these bytes as its answer section, and a count of one by default. */
function withAnswer(record: readonly number[], count = 1): Uint8Array {
  return Uint8Array.from([...u16(1), ...u16(0x8180), ...u16(0), ...u16(count), ...u16(0), ...u16(0), ...record]);
}

const tail = (type: number, data: readonly number[], length = data.length): number[] => {
  return [...u16(type), ...u16(1), ...u32(60), ...u16(length), ...data];
};

describe('what can be read of a malformed message', () => {
  it('is all but the data that breaks its format, which is shown as octets', () => {
    const bytes = withAnswer([0, ...tail(1, [1, 2, 3]), 0, ...tail(1, [1, 2, 3, 4])], 2);

    expect(readPresentedMessage(bytes)).toMatchObject({
      formatError: 'a field runs past its bound',
      flags: ['qr', 'rd', 'ra'],
      answers: [{ data: '\\# 3 010203' }, { data: '1.2.3.4' }],
      trailingBytes: 0,
    });
  });

  it('ends where the next record cannot be found', () => {
    const bytes = withAnswer([0, ...tail(1, [1, 2, 3, 4]), 0xc0, 0xff, ...tail(1, [1, 2, 3, 4])], 3);

    expect(readPresentedMessage(bytes)).toMatchObject({
      formatError: 'a compression pointer does not lead backwards',
      answers: [{ data: '1.2.3.4' }],
      authority: [],
      trailingBytes: 0,
    });
  });

  it('is every record, and how many octets follow the last', () => {
    const bytes = Uint8Array.from([...withAnswer([0, ...tail(1, [1, 2, 3, 4])]), 9, 9, 9]);

    expect(decodeMessage(bytes)).toMatchObject({ formatError: null, trailingBytes: 3, answers: [{ data: '1.2.3.4' }] });
  });
});

describe('a malformed message is refused', () => {
  it.each<[string, Uint8Array]>([
    ['it is empty', new Uint8Array()],
    ['its header is cut off', new Uint8Array(11)],
    ['a pointer leads to itself', withAnswer([0xc0, 12, ...tail(1, [1, 2, 3, 4])])],
    ['a pointer leads forwards', withAnswer([0xc0, 30, ...tail(1, [1, 2, 3, 4]), ...wireName('a')])],
    ['two pointers lead to each other', withAnswer([1, 0x61, 0xc0, 16, 0xc0, 14, ...tail(1, [1, 2, 3, 4])])],
    ['a pointer leads behind the end', withAnswer([0xff, 0xff, ...tail(1, [1, 2, 3, 4])])],
    ['a pointer is cut off', withAnswer([0xc0])],
    ['a label has a reserved type', withAnswer([0x80, 1, 0, ...tail(1, [1, 2, 3, 4])])],
    ['a label says more than there is', withAnswer([63, 0x61, 0])],
    [
      'a name has more than 255 octets',
      withAnswer([...wireName(Array(5).fill('a'.repeat(60)).join('.')), ...tail(1, [1, 2, 3, 4])]),
    ],
    ['data says more than there is', withAnswer([0, ...tail(1, [1, 2, 3, 4], 5)])],
    ['data says less than its type needs', withAnswer([0, ...tail(1, [1, 2, 3])])],
    ['data has more than its type needs', withAnswer([0, ...tail(1, [1, 2, 3, 4, 5])])],
    ['a name in data runs past the data', withAnswer([0, ...tail(2, [5, 0x61], 2), ...wireName('bcdef')])],
    ['there are fewer records than it says', withAnswer([0, ...tail(1, [1, 2, 3, 4])], 2)],
    ['a string in a TXT record runs past its end', withAnswer([0, ...tail(16, [9, 0x61])])],
    ['a TXT record holds no string', withAnswer([0, ...tail(16, [])])],
    ['a type bitmap has blocks out of order', withAnswer([0, ...tail(47, [0, 1, 1, 0x40, 0, 1, 0x40])])],
    [
      'service parameters are out of order',
      withAnswer([0, ...tail(65, [0, 1, 0, 0, 3, 0, 2, 1, 187, 0, 1, 0, 3, 2, 0x68, 0x32])]),
    ],
    ['a record is of another class', withAnswer([0, ...u16(1), ...u16(3), ...u32(60), ...u16(4), 1, 2, 3, 4])],
    ['there are two OPT records', withAnswer([0, ...tail(41, []), 0, ...tail(41, [])], 2)],
    ['an option runs past the OPT record', withAnswer([0, ...tail(41, [0, 3, 0, 9])])],
  ])('because %s', (_reason, bytes) => {
    expect(() => decodeMessage(bytes)).toThrow(MessageFormatError);
  });
});
