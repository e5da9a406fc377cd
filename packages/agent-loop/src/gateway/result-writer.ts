import { SCREENSHOT_PIECES_IN_FLIGHT, type AgentMessage } from '@vantage/contract';

import { ConnectionLost, type ResultWriter } from '../results.ts';
import { createPieceSize, type PieceSize } from './piece-size.ts';
import type { Session } from './session.ts';

/** Results over the connection to a gateway: each is settled by the gateway's reply, or the loss of the connection. */
export interface GatewayWriter extends ResultWriter {
  readonly acknowledged: (session: Session, seq: number) => void;
  /** To be called when the gateway reports that it could not write a message now. */
  readonly refused: (session: Session, seq: number) => void;
  readonly lost: (session: Session) => void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface WriterOptions {
  readonly traceparentOf?: ((check: string) => string | undefined) | undefined;
  /** Round trip of the connection, milliseconds. */
  readonly rttMs?: () => number;
}

export function createGatewayWriter(session: () => Session | undefined, options: WriterOptions = {}): GatewayWriter {
  return new Writer(session, options);
}

class Writer implements GatewayWriter {
  private readonly session: () => Session | undefined;
  private readonly traceparentOf: (check: string) => string | undefined;
  private readonly pieceSize: PieceSize;
  private readonly waiting = new Map<Session, Map<number, Waiting>>();
  private uploads = 0;
  /** Screenshots are sent one after the other. */
  private uploading: Promise<unknown> = Promise.resolve();

  constructor(session: Writer['session'], { traceparentOf = () => undefined, rttMs = () => 0 }: WriterOptions) {
    this.session = session;
    this.traceparentOf = traceparentOf;
    this.pieceSize = createPieceSize(rttMs);
  }

  readonly isReady = (): boolean => this.session()?.isOpen() === true;

  readonly append: ResultWriter['append'] = async (check, kind, data, png) => {
    const on = this.session();
    if (on === undefined) throw new ConnectionLost('there is no connection to a gateway');
    const traceparent = this.traceparentOf(check);
    const entry = { t: 'result', check, kind, data, ...(traceparent === undefined ? {} : { traceparent }) } as const;
    const send = (more: Partial<Extract<AgentMessage, { t: 'result' }>> = {}): Promise<void> =>
      this.settle(on, (seq) => on.send({ ...entry, ...more, seq }));
    if (png === undefined) return send();
    const turn = this.uploading.then(async () => {
      const number = await this.upload(on, png);
      await send({ screenshot: { upload: number, bytes: png.length } });
    });
    this.uploading = turn.catch(() => undefined);
    return turn;
  };

  /** Does nothing: the gateway announces the entries that it writes. */
  readonly notify = async (): Promise<void> => undefined;

  readonly acknowledged = (on: Session, seq: number): void => this.take(on, seq)?.resolve();

  readonly refused = (on: Session, seq: number): void =>
    this.take(on, seq)?.reject(new Error('the gateway could not write it'));

  readonly lost = (on: Session): void => {
    const all = this.waiting.get(on) ?? new Map<number, Waiting>();
    this.waiting.delete(on);
    for (const one of all.values()) one.reject(new ConnectionLost('the connection was lost'));
  };

  /** Sends a numbered message and waits for its acknowledgement. */
  private settle(on: Session, send: (seq: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!on.isOpen()) return reject(new ConnectionLost('the connection is closed'));
      const seq = on.nextSeq();
      const ofSession = this.waiting.get(on) ?? new Map<number, Waiting>();
      this.waiting.set(on, ofSession.set(seq, { resolve, reject }));
      send(seq);
    });
  }

  private take(on: Session, seq: number): Waiting | undefined {
    const one = this.waiting.get(on)?.get(seq);
    this.waiting.get(on)?.delete(seq);
    return one;
  }

  /**
   * Sends a screenshot in pieces. Few are in flight at a time, small ones on a slow connection: a concurrent result
   * waits for these only.
   */
  private async upload(on: Session, png: Uint8Array): Promise<number> {
    const number = (this.uploads += 1);
    const inFlight = new Set<Promise<void>>();
    for (let at = 0; at < png.length;) {
      const part = png.subarray(at, at + this.pieceSize.bytes());
      at += part.length;
      const sentAt = performance.now();
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
      const sent = this.settle(on, (seq) => on.sendPiece({ seq, upload: number, bytes }));
      inFlight.add(sent);
      void sent.then(
        () => {
          inFlight.delete(sent);
          this.pieceSize.acknowledged(performance.now() - sentAt);
        },
        () => undefined,
      );
      if (inFlight.size >= SCREENSHOT_PIECES_IN_FLIGHT) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
    return number;
  }
}
