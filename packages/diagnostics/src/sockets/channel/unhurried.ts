import type { Request } from './messages.ts';

/** Requests without a response or urgency: sent before the next urgent one, or `WITHIN_MS` after the first of them. */
export interface Unhurried {
  readonly add: (request: Request) => void;
  /** Sends the waiting requests now, in their order. */
  readonly flush: () => void;
  readonly drop: () => void;
}

/** This time is long, because a message that is sent alone wakes both processes. */
const WITHIN_MS = 5_000;

export function createUnhurried(send: (request: Request) => void): Unhurried {
  let waiting: Request[] = [];
  let timer: NodeJS.Timeout | undefined;
  const drop = (): void => {
    clearTimeout(timer);
    [waiting, timer] = [[], undefined];
  };
  const flush = (): void => {
    const requests = waiting;
    drop();
    requests.forEach(send);
  };
  return {
    add: (request) => {
      waiting.push(request);
      timer ??= setTimeout(flush, WITHIN_MS).unref();
    },
    flush,
    drop,
  };
}
