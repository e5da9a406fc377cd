import { setImmediate as nextImmediate } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { resettingPort } from '../../test/resetting-port.ts';
import { connectFirst } from './connect-first.ts';

it('takes a connection that is reset before its handshake is read for one, and asks no other address', async () => {
  const { port, untilReset, close } = await resettingPort();
  const addresses = ['127.0.0.1', '127.0.0.2'];
  const target = {
    host: 'two.example',
    address: '127.0.0.1',
    family: 4,
    addresses,
    candidates: addresses,
    resolveMs: 0,
  } as const;

  const running = connectFirst(target, port, { signal: new AbortController().signal, boundMs: () => undefined });
  // After this turn of the event loop, Node has sent the SYN.
  await nextImmediate();
  untilReset(1);
  const { connected, address, dead } = await running;
  await close();

  expect(connected).toMatchObject({
    socket: null,
    ms: expect.any(Number),
    failure: { code: 'connection_reset', phase: 'request', source: 'target' },
  });
  expect([address, dead]).toEqual(['127.0.0.1', []]);
});
