import type { Coordinator } from './deployment.ts';
import { historyNow, type Answer, type History, type Operation } from './history.ts';

/** A request, and the fields that the history keeps in addition to its answer. */
export interface Call {
  readonly operation: Operation;
  readonly path: string;
  readonly check?: string;
  readonly budgetMs?: number;
  readonly lastEventId?: number | undefined;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** Asks coordinators over HTTP as a client would, and writes each answer into the history. */
export interface Callers {
  readonly ask: (coordinator: Coordinator, call: Call) => Promise<Answer>;
  /** Sends a request and passes the response to `read`; records the answer when `read` has settled. */
  readonly open: (
    coordinator: Coordinator,
    call: Call,
    read: (response: Response, number: number) => Promise<unknown>,
  ) => Promise<Answer>;
  readonly attribute: (fault: string) => void;
  readonly fault: () => string;
}

/** Request timeout, except for event streams. `?wait=` is not used, so only a fault makes a response take this long. */
const ANSWERS_WITHIN_MS = 20_000;

export function createCallers(history: History): Callers {
  let fault = 'before the first fault';
  const open: Callers['open'] = async ({ part, url }, call, read) => {
    const number = history.nextNumber();
    const { operation, path, check, budgetMs, lastEventId, body } = call;
    const [at, startedAt] = [historyNow(), performance.now()];
    const begun = {
      kind: 'answer',
      number,
      at,
      from: part.name,
      operation,
      fault,
      check,
      budgetMs,
      lastEventId,
    } as const;
    let seen: Pick<Answer, 'status' | 'retryAfter' | 'body' | 'error'>;
    try {
      const send = (): Promise<Response> =>
        fetch(`${url}${path}`, {
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
          headers: {
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
          },
          signal: call.signal ?? AbortSignal.timeout(ANSWERS_WITHIN_MS),
        });
      const first = await send();
      // The answer to a connection that was not used in time, sent when a request was on its way: the client repeats
      // that request (RFC 9110 section 15.5.9).
      const response = first.status === 408 ? await send() : first;
      const text = await read(response, number);
      seen = { status: response.status, retryAfter: response.headers.has('retry-after'), body: text };
    } catch (error) {
      seen = { error: reasonOf(error) };
    }
    const answer: Answer = { ...begun, ...seen, doneAt: historyNow(), ran: part.ranSince(startedAt) };
    history.add(answer);
    return answer;
  };
  return {
    open,
    ask: (coordinator, call) => open(coordinator, call, async (response) => parsed(await response.text())),
    attribute: (name) => {
      fault = name;
    },
    fault: () => fault,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error of `fetch` is generic; its cause has the reason. */
function reasonOf(error: unknown): string {
  if (!Error.isError(error)) return 'unknown';
  return Error.isError(error.cause) ? `${error.message} (${error.cause.message})` : error.message;
}
