import type { ReadTime } from '../clock.ts';
import type { Session } from './session.ts';

/** Reads the clock of Redis through the gateway. */
export interface TimeQuestions {
  readonly ask: ReadTime;
  readonly answered: (id: number, ms: number) => void;
}

const ANSWER_MS = 5_000;

export function createTimeQuestions(session: () => Session | undefined): TimeQuestions {
  const open = new Map<number, (ms: number) => void>();
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        const on = session();
        if (on === undefined) return reject(new Error('there is no connection to a gateway'));
        const id = on.nextSeq();
        const timer = setTimeout(() => {
          open.delete(id);
          reject(new Error('the gateway does not tell the time'));
        }, ANSWER_MS);
        open.set(id, (ms) => {
          clearTimeout(timer);
          open.delete(id);
          resolve([Math.floor(ms / 1_000), (ms % 1_000) * 1_000]);
        });
        on.send({ t: 'time', id });
      }),
    answered: (id, ms) => open.get(id)?.(ms),
  };
}
