import { setTimeout as sleep } from 'node:timers/promises';

import { exitStatus, jsonText, statusOfResults } from '@vantage/command-line';
import { ProblemError, type CheckRequest, type Client, type PairRequest } from '@vantage/client';
import { endsWithStream, escapeText } from '@vantage/contract';

import { completed } from './completed.ts';
import { statusOfFault } from './faults/exit-status.ts';
import { causeOf } from './faults/service-fault.ts';

interface WatchOptions {
  readonly request: CheckRequest | PairRequest;
  readonly everySeconds: number;
  /** True for one JSON document per line instead of text. */
  readonly json: boolean;
  readonly client: Client;
  readonly write: (line: string) => void;
  readonly complain: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Repeats a check until the signal aborts, one line per run. A service that is unreachable or busy is asked again; a refused
 * request ends the watch.
 *
 * @returns the exit status: that of the last run
 */
export async function watchCheck(options: WatchOptions): Promise<number> {
  const { everySeconds, signal } = options;
  let status: number = exitStatus.interrupted;
  while (!signal.aborted) {
    const started = performance.now();
    let waitMs = everySeconds * 1000;
    try {
      status = await runOnce(options);
    } catch (error) {
      if (signal.aborted) break;
      const isFinal = error instanceof ProblemError && ![3, 4].includes(statusOfFault(error));
      options.complain(`${clock()}  ${messageOf(error)}`);
      status = statusOfFault(error);
      if (isFinal) return status;
      if (error instanceof ProblemError) waitMs = Math.max(waitMs, (error.retryAfterSeconds ?? 0) * 1000);
    }
    const restMs = Math.max(0, waitMs - (performance.now() - started));
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
  return status;
}

async function runOnce({ request, json, client, write, signal }: WatchOptions): Promise<number> {
  const { checkId } = await client.startCheck(request, { signal });
  const check = await completed(checkId, { client, signal, endsWithStream: endsWithStream(request) });
  if (json) write(jsonText(check, 0));
  else {
    const { verdict, headline } = await client.summary(checkId, { signal });
    write(`${clock()}  ${verdict.padEnd(8)}  ${escapeText(headline, 2_000)}`);
  }
  return statusOfResults(check.type, Object.values(check.results));
}

function clock(): string {
  return new Date().toISOString().slice(0, 19).concat('Z');
}

function messageOf(error: unknown): string {
  if (!Error.isError(error)) return escapeText(String(error), 2_000);
  return escapeText(Error.isError(error.cause) ? `${error.message}: ${causeOf(error).message}` : error.message, 2_000);
}
