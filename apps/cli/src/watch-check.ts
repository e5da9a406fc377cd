import { setTimeout as sleep } from 'node:timers/promises';

import { exitStatus, jsonText, statusOfResults } from '@vantage/command-line';
import { ProblemError, type CheckOf, type CheckRequest, type Client, type PairRequest } from '@vantage/client';
import { endsWithStream, escapeText } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

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
 * Repeats a check until the signal aborts, one line per run. Later runs have the probes of the first one, so that they
 * differ by time alone, except those that were removed meanwhile. If the service is unreachable, busy or without a
 * suitable probe, the check is tried again later; any other refusal ends the watch.
 *
 * @returns the exit status of the last attempt; `interrupted` if none has ended
 */
export async function watchCheck(options: WatchOptions): Promise<number> {
  const { everySeconds, signal } = options;
  let status: number = exitStatus.interrupted;
  let { request } = options;
  while (!signal.aborted) {
    const started = performance.now();
    let waitMs = everySeconds * 1000;
    try {
      const check = await runOnce(request, options);
      status = statusOfResults(check.type, Object.values(check.results));
      request = withProbes(request, Object.keys(check.results));
    } catch (error) {
      if (signal.aborted) break;
      const rest = withoutRemoved(request, error);
      if (rest !== undefined && request !== options.request) {
        options.complain(`${clock()}  ${rest.messages.join('; ')}; the watch goes on without ${rest.pronoun}`);
        request = rest.request;
        continue;
      }
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

async function runOnce(
  request: WatchOptions['request'],
  { json, client, write, complain, signal }: WatchOptions,
): Promise<CheckOf<CheckTypeName>> {
  const { checkId, message } = await client.startCheck(request, { signal });
  if (hasEmptyLocations(message)) complain(`${clock()}  ${escapeText(message, 2_000)}`);
  const check = await completed(checkId, { client, signal, endsWithStream: endsWithStream(request) });
  if (json) write(jsonText(check, 0));
  else {
    const { verdict, headline } = await client.summary(checkId, { signal });
    write(`${clock()}  ${verdict.padEnd(8)}  ${escapeText(headline, 2_000)}`);
  }
  return check;
}

/** The request for exactly these probes; a pair of probes stays as it is. */
function withProbes(request: WatchOptions['request'], probes: readonly string[]): WatchOptions['request'] {
  if ('between' in request) return request;
  const { locations: _locations, limit: _limit, ...rest } = request;
  return { ...rest, probes: [...probes] };
}

/** The request without the probes that the service refuses; undefined if it refuses anything else, or all of them. */
function withoutRemoved(request: WatchOptions['request'], error: unknown) {
  if ('between' in request || !(error instanceof ProblemError)) return undefined;
  const errors = error.problem?.errors ?? [];
  const removed = new Set(errors.map(({ path }) => /^\/probes\/(\d+)$/.exec(path)?.[1]));
  const probes = request.probes?.filter((_probe, index) => !removed.has(String(index))) ?? [];
  if (removed.size === 0 || removed.has(undefined) || probes.length === 0) return undefined;
  const messages = errors.map(({ message }) => escapeText(message, 200));
  return { request: { ...request, probes }, messages, pronoun: removed.size === 1 ? 'it' : 'them' };
}

function clock(): string {
  return new Date().toISOString().slice(0, 19).concat('Z');
}

function messageOf(error: unknown): string {
  if (!Error.isError(error)) return escapeText(String(error), 2_000);
  return escapeText(Error.isError(error.cause) ? `${error.message}: ${causeOf(error).message}` : error.message, 2_000);
}

/** Whether the service says that some of the locations have no probe: the results are those of the others alone. */
export function hasEmptyLocations(message: string): boolean {
  return message.includes('; no probe at ');
}
