import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { pipeTransport } from './pipe-transport.ts';

function open(limits = { messageBytes: 100, totalBytes: 1_000, messages: 10 }) {
  const [toBrowser, fromBrowser] = [new PassThrough(), new PassThrough()];
  const [received, floods]: [string[], string[]] = [[], []];
  let closed = 0;
  const transport = pipeTransport(toBrowser, fromBrowser, limits, (what) => floods.push(what));
  Object.assign(transport, {
    onmessage: (message: string) => received.push(message),
    onclose: () => {
      closed += 1;
    },
  });
  const say = async (...pieces: readonly string[]): Promise<void> => {
    for (const piece of pieces) fromBrowser.write(piece);
    for (let i = 0; i < 5; i += 1) await turn();
  };
  return { transport, toBrowser, say, received, floods, closed: () => closed };
}

describe('the pipe to a browser', () => {
  it('puts messages together from pieces', async () => {
    const { say, received, transport, toBrowser } = open();

    await say('{"a":1', '}\0{"b"', ':2}\0{"c":3}\0{"d"');
    transport.send('{"id":1}');

    expect(received).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
    expect(String(toBrowser.read())).toBe('{"id":1}\0');
  });

  it('drops what pages write to the console', async () => {
    const { say, received } = open();

    await say('{"method":"Runtime.consoleAPICalled","params":{}}\0{"method":"Page.loadEventFired"}\0');

    expect(received).toEqual(['{"method":"Page.loadEventFired"}']);
  });

  it('knows where a document was redirected to', async () => {
    const { say, transport } = open({ messageBytes: 1_000, totalBytes: 10_000, messages: 10 });
    const asks = (url: string, type: string, requestId = 'A') =>
      `${JSON.stringify({ method: 'Network.requestWillBeSent', params: { requestId, request: { url }, type } })}\0`;

    await say(asks('http://a.test/', 'Document'), asks('http://b.test/', 'Document'));
    await say(asks('http://c.test/', 'Image'), asks('http://d.test/', 'Document', 'D'));

    expect(transport.redirectedFrom('http://a.test/')).toBe('http://b.test/');
    expect(transport.redirectedFrom('http://d.test/')).toBe('http://d.test/');
    expect(transport.redirectedFrom('http://c.test/')).toBe('http://c.test/');
  });

  it.each([
    ['one message without an end', ['x'.repeat(60), 'x'.repeat(60)], 'one message is too large'],
    ['many bytes', Array.from({ length: 9 }, () => `${'x'.repeat(120)}\0`), 'the messages are too large'],
    ['many messages', Array.from({ length: 11 }, () => 'x\0'), 'there are too many messages'],
  ])('closes at %s', async (_reason, pieces, what) => {
    const { say, floods, closed, transport } = open();

    await say(...pieces);
    transport.send('{"id":1}');

    expect(floods).toEqual([what]);
    expect(closed()).toBe(1);
  });
});
