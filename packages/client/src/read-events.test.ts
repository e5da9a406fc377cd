import { describe, expect, it } from '@jest/globals';

import { readEvents, type StreamEvent } from './read-events.ts';

describe('the events of a stream', () => {
  it.each<[string, string, readonly object[]]>([
    [
      'an event with all its fields',
      'id: 7\nevent: probe\ndata: {"a":1}\n\n',
      [{ id: '7', event: 'probe', data: '{"a":1}' }],
    ],
    ['lines that end in CR and LF', 'event: a\r\ndata: b\r\n\r\n', [{ event: 'a', data: 'b' }]],
    ['data of several lines', 'data: a\ndata:\ndata: b\n\n', [{ data: 'a\n\nb' }]],
    ['a comment', ': hello\n\n:\n\n', []],
    ['an event that is not whole', 'data: a\n', []],
    ['a character of several bytes', 'data: ü€😀\n\n', [{ data: 'ü€😀' }]],
  ])('come for %s, cut anywhere', async (_reason, text, expected) => {
    expect(await eventsOf([Buffer.from(text)])).toMatchObject(expected);
    expect(await eventsOf([...Buffer.from(text)].map((byte) => Buffer.of(byte)))).toMatchObject(expected);
  });

  it('come with the time that the service asks for', async () => {
    const asked: number[] = [];
    const onRetry = (milliseconds: number): void => void asked.push(milliseconds);
    for await (const event of readEvents(new Response('retry: 1500\n\nretry: soon\n\n').body!, { onRetry })) {
      throw new Error(`An event came: ${event.data}`);
    }

    expect(asked).toEqual([1_500]);
  });
});

async function eventsOf(pieces: readonly Buffer[]): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (stream) => {
      for (const piece of pieces) stream.enqueue(Uint8Array.from(piece));
      stream.close();
    },
  });
  for await (const event of readEvents(body)) events.push(event);
  return events;
}
