import { SCREENSHOT_PIECE_BYTES, SCREENSHOT_PIECES_IN_FLIGHT, type AgentMessage } from '@vantage/contract';

import type { ResultWriter } from '../results.ts';
import type { Session } from './session.ts';

/** Results over the connection to a gateway: each is settled by the gateway's acknowledgement. */
export interface GatewayWriter extends ResultWriter {
  readonly acknowledged: (session: Session, seq: number) => void;
  /** The gateway could not write it now. */
  readonly refused: (session: Session, seq: number) => void;
  readonly lost: (session: Session) => void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createGatewayWriter(
  session: () => Session | undefined,
  traceparentOf: (check: string) => string | undefined = () => undefined,
): GatewayWriter {
  const waiting = new Map<Session, Map<number, Waiting>>();
  let uploads = 0;
  /** Screenshots are sent one after the other. */
  let uploading: Promise<unknown> = Promise.resolve();

  /** Sends a numbered message and waits for its acknowledgement. */
  const settle = (on: Session, send: (seq: number) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!on.isOpen()) return reject(new Error('the connection is closed'));
      const seq = on.nextSeq();
      const ofSession = waiting.get(on) ?? new Map<number, Waiting>();
      waiting.set(on, ofSession.set(seq, { resolve, reject }));
      send(seq);
    });

  /** Few pieces are in flight at a time, so that a concurrent result waits for these only. */
  const upload = async (on: Session, png: Uint8Array): Promise<number> => {
    const number = (uploads += 1);
    const inFlight = new Set<Promise<void>>();
    for (let at = 0; at < png.length; at += SCREENSHOT_PIECE_BYTES) {
      const part = png.subarray(at, at + SCREENSHOT_PIECE_BYTES);
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
      const sent = settle(on, (seq) => on.sendPiece({ seq, upload: number, bytes }));
      inFlight.add(sent);
      void sent.then(
        () => inFlight.delete(sent),
        () => undefined,
      );
      if (inFlight.size >= SCREENSHOT_PIECES_IN_FLIGHT) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
    return number;
  };

  const append: ResultWriter['append'] = async (check, kind, data, png) => {
    const on = session();
    if (on === undefined) throw new Error('there is no connection to a gateway');
    const traceparent = traceparentOf(check);
    const entry = { t: 'result', check, kind, data, ...(traceparent === undefined ? {} : { traceparent }) } as const;
    const send = (more: Partial<Extract<AgentMessage, { t: 'result' }>> = {}): Promise<void> =>
      settle(on, (seq) => on.send({ ...entry, ...more, seq }));
    if (png === undefined) return send();
    const turn = uploading.then(async () => {
      const number = await upload(on, png);
      await send({ screenshot: { upload: number, bytes: png.length } });
    });
    uploading = turn.catch(() => undefined);
    return turn;
  };

  const take = (on: Session, seq: number): Waiting | undefined => {
    const one = waiting.get(on)?.get(seq);
    waiting.get(on)?.delete(seq);
    return one;
  };
  return {
    isReady: () => session()?.isOpen() === true,
    append,
    hint: async () => undefined,
    acknowledged: (on, seq) => take(on, seq)?.resolve(),
    refused: (on, seq) => take(on, seq)?.reject(new Error('the gateway could not write it')),
    lost: (on) => {
      const all = waiting.get(on) ?? new Map<number, Waiting>();
      waiting.delete(on);
      for (const one of all.values()) one.reject(new Error('the connection was lost'));
    },
  };
}
