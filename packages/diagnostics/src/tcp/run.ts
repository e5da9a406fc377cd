import { connect } from 'node:net';

import { roundMs, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { classifyError, timedOut } from '../classify.ts';
import type { DiagnosticContext, Outcome } from '../diagnostic.ts';
import { ATTEMPT_TIMEOUT_MS, type tcp } from './contract.ts';

type Tcp = typeof tcp;
type Attempt = { readonly rt: number; readonly error: null } | { readonly rt: null; readonly error: Failure };

/** Handshakes with the pinned address, one after another; the connection is reset at once, nothing is written. */
export async function runTcp(params: ParamsOf<Tcp>, context: DiagnosticContext<Tcp>): Promise<Outcome<Tcp>> {
  const { host, port, options } = params;
  const admission = await context.admit({ host, port, purpose: 'tcp', family: options.family }, context.signal);
  if (!admission.admitted) return refused(admission.failure, port);

  const attempts: Attempt[] = [];
  while (attempts.length < options.attempts && !context.signal.aborted) {
    attempts.push(await handshake(admission.target, port, context.signal));
    context.emitPartial({ port, attempts: [...attempts] });
  }
  return outcome(admission.target, port, attempts);
}

function refused(failure: Failure, port: number): Outcome<Tcp> {
  const result = failure.source === 'probe' ? 'error' : 'failure';
  return { result, rt: null, resolvedIp: null, error: failure, port };
}

function outcome(target: Target, port: number, attempts: Attempt[]): Outcome<Tcp> {
  const common = { resolvedIp: target.address, port, attempts };
  const open = attempts.find((attempt) => attempt.error === null);
  if (open !== undefined) return { result: 'success', rt: open.rt, error: null, state: 'open', ...common };

  const failures = attempts.flatMap((attempt) => (attempt.error === null ? [] : [attempt.error]));
  const error = failures.find((failure) => failure.code !== 'timed_out') ?? failures[0] ?? timedOut('connect');
  const state = error.code === 'connection_refused' ? 'closed' : 'filtered';
  const result = error.code === 'timed_out' ? 'timeout' : error.source === 'probe' ? 'error' : 'failure';
  return { result, rt: null, error, state, ...common };
}

function handshake(target: Target, port: number, signal: AbortSignal): Promise<Attempt> {
  return new Promise((resolve) => {
    const started = performance.now();
    const socket = connect({ host: target.address, port, family: target.family });
    const settle = (attempt: Attempt): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', give);
      socket.removeAllListeners().on('error', () => undefined);
      socket.resetAndDestroy();
      resolve(attempt);
    };
    const give = (): void => settle({ rt: null, error: timedOut('connect', 'No answer to the SYN in time.') });
    const timer = setTimeout(give, ATTEMPT_TIMEOUT_MS);
    signal.addEventListener('abort', give);
    socket.once('connect', () => settle({ rt: roundMs(performance.now() - started), error: null }));
    socket.once('error', (error) => settle({ rt: null, error: classifyError(error, 'connect') }));
  });
}
