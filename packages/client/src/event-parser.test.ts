import { describe, expect, it } from '@jest/globals';

import { createEventParser, type StreamPart } from './event-parser.ts';

const event = (data: string, name = 'message', id = ''): StreamPart => ({ kind: 'event', name, data, id });

describe('the reader of event streams', () => {
  it.each<[string, string, readonly StreamPart[]]>([
    ['an event with all its fields', 'id: 7\nevent: probe\ndata: {"a":1}\n\n', [event('{"a":1}', 'probe', '7')]],
    ['lines that end in CR and LF', 'event: a\r\ndata: b\r\n\r\n', [event('b', 'a')]],
    ['lines that end in CR', 'event: a\rdata: b\r\rdata: c\r\r\n', [event('b', 'a'), event('c')]],
    ['data of several lines', 'data: a\ndata:\ndata: b\n\n', [event('a\n\nb')]],
    ['one space after the colon', 'data:  a\ndata:b\n\n', [event(' a\nb')]],
    ['a field without a colon', 'data\n\n', [event('')]],
    ['a comment', ': hello\n\n:\n\n', []],
    ['an event without data', 'id: 3\nevent: a\n\ndata: b\n\n', [event('b', 'message', '3')]],
    ['an id that stays', 'id: 3\ndata: a\n\ndata: b\n\nid\ndata: c\n\n', ['3', '3', ''].map(idOf)],
    ['an id with a null', 'id: 3\ndata: a\n\nid: 4\0\ndata: b\n\n', ['3', '3'].map(idOf)],
    ['a time to wait', 'retry: 1500\n\n', [{ kind: 'retry', milliseconds: 1_500 }]],
    ['a time that is none', 'retry: soon\nretry: -1\n\n', []],
    ['a field that it does not know', 'colour: red\ndata: a\n\n', [event('a')]],
    ['a byte order mark', '\uFEFFdata: a\n\n', [event('a')]],
    ['an event that is not whole', 'data: a\n', []],
  ])('reads %s, cut anywhere', (_reason, text, expected) => {
    expect(createEventParser()(text)).toEqual(expected);
    const parse = createEventParser();
    expect(text.split('').flatMap((character) => parse(character))).toEqual(expected);
  });
});

function idOf(id: string, index: number): StreamPart {
  return event('abc'[index]!, 'message', id);
}
