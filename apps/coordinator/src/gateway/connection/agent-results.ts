import type { Frame } from '@vantage/agent-loop';
import type { AgentMessage } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { AgentSocket } from './agent-socket.ts';
import { openResultStream, type ResultStream } from './result-stream.ts';
import { createUploads, type UploadBudget, type Uploads } from './uploads.ts';

export interface AgentResultsOptions {
  readonly socket: AgentSocket;
  readonly probe: string;
  readonly redis: Redis;
  readonly screenshots: Redis;
  readonly budget: UploadBudget;
  /** Called before a final result is written. */
  readonly onFinal: (check: string) => void;
}

/** Limit of writes without a reply from Redis; at it, nothing more is read from the connection. */
const MOST_WRITES = 128;

/** Writes the results that one connection sends, with their screenshots, and acknowledges each that was written. */
export class AgentResults {
  private readonly socket: AgentSocket;
  private readonly stream: ResultStream;
  private readonly uploads: Uploads;
  private readonly onFinal: (check: string) => void;
  private writes = 0;

  constructor({ socket, probe, redis, screenshots, budget, onFinal }: AgentResultsOptions) {
    this.socket = socket;
    this.stream = openResultStream({ redis, screenshots, probe });
    this.uploads = createUploads(budget);
    this.onFinal = onFinal;
  }

  /** Takes a piece of a screenshot, which precedes its result. */
  addPiece({ upload, bytes, seq }: Extract<Frame, { kind: 'piece' }>): void {
    const taken = this.uploads.add(upload, bytes);
    if (taken === 'fault') this.socket.close(4400, 'screenshot too large');
    else this.socket.send({ t: taken === 'taken' ? 'ack' : 'nack', seq });
  }

  /** Writes a result, and acknowledges it, or sends `nack` if Redis did not accept it. Never rejects. */
  async write(message: Extract<AgentMessage, { t: 'result' }>): Promise<void> {
    const { socket } = this;
    const { seq, check, kind, data, traceparent, screenshot } = message;
    const png = screenshot && this.uploads.take(screenshot.upload, screenshot.bytes);
    if (screenshot !== undefined && png === undefined) return socket.close(4400, 'screenshot without its pieces');
    if (kind === 'final') this.onFinal(check);
    this.writes += 1;
    if (this.writes >= MOST_WRITES) socket.pause();
    try {
      await this.stream.append({ check, kind, data, png, traceparent });
      socket.send({ t: 'ack', seq });
    } catch {
      // The agent may send the result again.
      socket.send({ t: 'nack', seq });
    } finally {
      this.writes -= 1;
      if (this.writes < MOST_WRITES / 2) socket.resume();
    }
  }

  /** Writes a failure as the result of a job whose agent is gone. */
  interrupt(jobId: string, nowMs: number): Promise<void> {
    return this.stream.interrupt(jobId, nowMs);
  }

  close(): void {
    this.uploads.drop();
    this.stream.close();
  }
}
