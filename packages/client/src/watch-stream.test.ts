import { EVENT_HEARTBEAT_MS } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { watchStream, type LostConnection } from './watch-stream.ts';

const HEARTBEAT = new TextEncoder().encode(':\n\n');

describe('a stream that stays open', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /**
   * Follows a stream that sends this many heartbeats and then nothing for `thenMs`.
   *
   * @returns the changes of the connection that were reported
   */
  async function lostAfter(heartbeats: number, thenMs: number): Promise<readonly (LostConnection | undefined)[]> {
    const changes: (LostConnection | undefined)[] = [];
    const stopping = new AbortController();
    let send: (bytes: Uint8Array) => void = () => undefined;
    const open = async (_headers: unknown, signal: AbortSignal): Promise<Response> => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          send = (bytes) => controller.enqueue(bytes);
          signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const options = {
      signal: stopping.signal,
      onConnection: (change: LostConnection | undefined) => void changes.push(change),
    };
    const kind = { read: () => undefined, isLast: () => false };
    // Aborting the signal rejects it.
    const reading = watchStream(open, kind, '', options)
      .next()
      .catch(() => undefined);
    await jest.advanceTimersByTimeAsync(0);
    for (let sent = 0; sent < heartbeats; sent += 1) {
      await jest.advanceTimersByTimeAsync(EVENT_HEARTBEAT_MS);
      send(HEARTBEAT);
      await jest.advanceTimersByTimeAsync(0);
    }
    await jest.advanceTimersByTimeAsync(thenMs);
    const seen = [...changes];
    stopping.abort();
    await jest.advanceTimersByTimeAsync(60_000);
    await reading;
    return seen;
  }

  it('is lost after 20 silent seconds', async () => {
    expect(await lostAfter(3, 20_000)).toMatchObject([
      undefined,
      { failure: { message: 'The event stream fell silent.' } },
    ]);
  });

  it('is not lost for one heartbeat that is missing', async () => {
    expect(await lostAfter(3, 2 * EVENT_HEARTBEAT_MS)).toEqual([undefined]);
  });
});
