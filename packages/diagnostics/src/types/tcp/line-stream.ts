import type { Socket } from 'node:net';

import type { Failure } from '@vantage/contract';

import { classifyError, connectionClosed, timedOut } from '../../shared/classify-error.ts';
import { MAX_DIALOGUE_BYTES } from './contract.ts';

/** Lines of a connected socket, which the stream owns until it is released. */
export interface LineStream {
  /**
   * The next line without its terminator, which the last one may lack. `null` after the target has ended the
   * connection; the failure if the connection broke, the time is over, or the data exceeds the limit.
   */
  readonly next: () => Promise<Uint8Array | Failure | null>;
  readonly send: (bytes: Uint8Array) => Promise<Failure | null>;
  /** Stops reading. Lines that were received and not taken are lost. */
  readonly release: () => void;
}

/** Yields the lines of a socket; reads at most `MAX_DIALOGUE_BYTES`. */
export function streamLines(socket: Socket, signal: AbortSignal): LineStream {
  const buffer = lineBuffer();
  const state = watch(socket, signal, buffer);
  const send = async (bytes: Uint8Array): Promise<Failure | null> => {
    let isWritten = false;
    socket.write(bytes, () => {
      isWritten = true;
      state.wake();
    });
    while (!isWritten && state.failure() === null && !signal.aborted) await state.woken();
    if (state.failure() !== null || isWritten) return state.failure();
    return timedOut('request', 'The line could not be sent in time.');
  };
  const next = async (): Promise<Uint8Array | Failure | null> => {
    for (;;) {
      const line = buffer.take(state.hasEnded());
      if (line !== undefined) return line;
      const failure = state.failure();
      if (failure !== null) return failure;
      if (buffer.isFull()) return tooLarge();
      if (state.hasEnded()) return null;
      if (signal.aborted) return timedOut('response', 'No line that matches came in time.');
      await state.woken();
    }
  };
  return { next, send, release: state.release };
}

interface LineBuffer {
  readonly push: (bytes: Buffer) => void;
  /** The next line; undefined if none is complete. With `hasEnded`, a rest without a line feed is the last line. */
  readonly take: (hasEnded: boolean) => Uint8Array | undefined;
  /** True if the data exceeded the limit. */
  readonly isFull: () => boolean;
}

const [LF, CR] = [0x0a, 0x0d];

/** Splits at line feeds and removes a carriage return before them, as Go's `bufio.ScanLines`. */
function lineBuffer(): LineBuffer {
  const buffer = Buffer.allocUnsafe(MAX_DIALOGUE_BYTES);
  let [start, searched, end, isFull] = [0, 0, 0, false];
  return {
    push: (bytes) => {
      const kept = bytes.copy(buffer, end);
      end += kept;
      isFull ||= kept < bytes.length;
    },
    take: (hasEnded) => {
      const at = buffer.subarray(0, end).indexOf(LF, searched);
      searched = end;
      if (at < 0 && (!hasEnded || start === end)) return undefined;
      const line = buffer.subarray(start, at < 0 ? end : at);
      start = at < 0 ? end : at + 1;
      searched = start;
      return line.at(-1) === CR ? line.subarray(0, -1) : line;
    },
    isFull: () => isFull,
  };
}

interface SocketState {
  /** Resolves the promise of `woken`; every event of the socket and of the signal does so too. */
  readonly wake: () => void;
  readonly woken: () => Promise<void>;
  readonly hasEnded: () => boolean;
  readonly failure: () => Failure | null;
  readonly release: () => void;
}

function watch(socket: Socket, signal: AbortSignal, buffer: LineBuffer): SocketState {
  let hasEnded = false;
  let failure: Failure | null = null;
  let resolve = (): void => undefined;
  const wake = (): void => resolve();
  const onData = (bytes: Buffer): void => {
    buffer.push(bytes);
    if (buffer.isFull()) socket.pause();
    wake();
  };
  const onEnd = (): void => {
    hasEnded = true;
    wake();
  };
  const onError = (error: unknown): void => {
    failure ??= classifyError(error, 'response');
    wake();
  };
  const onClose = (): void => {
    if (!hasEnded) failure ??= connectionClosed('response');
    wake();
  };
  socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  signal.addEventListener('abort', wake);
  return {
    wake,
    woken: () =>
      new Promise((done) => {
        resolve = done;
      }),
    hasEnded: () => hasEnded,
    failure: () => failure,
    release: () => {
      signal.removeEventListener('abort', wake);
      socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      socket.pause();
    },
  };
}

function tooLarge(): Failure {
  const message = `The target sent more than ${MAX_DIALOGUE_BYTES} bytes.`;
  return { code: 'dialogue_too_large', phase: 'response', source: 'target', message };
}
