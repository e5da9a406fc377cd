import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Most requests of one connection that wait for the answer to an earlier one. One read of a connection can contain many
 * more.
 */
export const MOST_WAITING = 32;

/** Requests of a connection: `isBusy` while one of them is being answered; `waiting` has the later ones. */
interface Turns {
  isBusy: boolean;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
}

/**
 * Answers the requests of each connection one after the other: each when the response before it has closed. Requests of
 * a connection that is closed are not answered, and a connection with too many waiting requests is closed.
 *
 * @param onExcess runs once for a connection that is closed for its number of requests
 */
export function answerInTurn(listener: RequestListener, onExcess: () => void): RequestListener {
  // No `WeakMap`, which would keep connections in memory (`../../live-list.ts`).
  const key = Symbol('turns');
  const turnsOf = (socket: Socket & { [key]?: Turns }): Turns => (socket[key] ??= { isBusy: false, waiting: [] });

  const answer = (turns: Turns, request: IncomingMessage, response: ServerResponse): void => {
    turns.isBusy = true;
    response.once('close', () => {
      turns.isBusy = false;
      if (request.socket.destroyed) turns.waiting.length = 0;
      const next = turns.waiting.shift();
      if (next !== undefined) answer(turns, ...next);
    });
    listener(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const turns = turnsOf(socket);
    if (!turns.isBusy) {
      answer(turns, request, response);
    } else if (turns.waiting.length < MOST_WAITING) {
      turns.waiting.push([request, response]);
    } else {
      socket.destroy();
      onExcess();
    }
  };
}
