import { roundMs, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../classify.ts';
import { connectPinned } from '../connect.ts';
import type { DiagnosticContext, Outcome } from '../diagnostic.ts';
import { ATTEMPT_TIMEOUT_MS, type tcp } from './contract.ts';

type Tcp = typeof tcp;
type Attempt = { readonly rt: number; readonly error: null } | { readonly rt: null; readonly error: Failure };

/** Handshakes with the pinned address, one after another; the connection is reset at once, nothing is written. */
export async function runTcp(params: ParamsOf<Tcp>, context: DiagnosticContext<Tcp>): Promise<Outcome<Tcp>> {
  const { host, port, options } = params;
  const admission = await admit(host, port, options.family, context);
  if ('failure' in admission) return notStarted(admission.failure, port);

  const attempts: Attempt[] = [];
  const show = (): void => {
    context.emitPartial({ resolvedIp: admission.target.address, port, attempts: [...attempts] });
  };
  show();
  while (attempts.length < options.attempts && !context.signal.aborted) {
    attempts.push(await handshake(admission.target, port, context.signal));
    show();
  }
  return outcome(admission.target, port, attempts);
}

async function admit(
  host: string,
  port: number,
  family: 4 | 6 | undefined,
  { admit, signal }: DiagnosticContext<Tcp>,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  try {
    const admission = await admit({ host, port, purpose: 'tcp', family }, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

function notStarted(failure: Failure, port: number): Outcome<Tcp> {
  return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure, port };
}

function outcome(target: Target, port: number, attempts: Attempt[]): Outcome<Tcp> {
  const common = { resolvedIp: target.address, port, attempts };
  const open = attempts.find((attempt) => attempt.error === null);
  if (open !== undefined) return { result: 'success', rt: open.rt, error: null, state: 'open', ...common };

  const failures = attempts.flatMap((attempt) => (attempt.error === null ? [] : [attempt.error]));
  const error = failures.find((failure) => failure.code !== 'timed_out') ?? failures[0] ?? timedOut('connect');
  const result = outcomeOf(error);
  // A fault of the probe says nothing of the port.
  if (result === 'error') return { result, rt: null, error, ...common };
  return { result, rt: null, error, state: error.code === 'connection_refused' ? 'closed' : 'filtered', ...common };
}

async function handshake(target: Target, port: number, signal: AbortSignal): Promise<Attempt> {
  const connected = await connectPinned(target, port, signal, ATTEMPT_TIMEOUT_MS);
  if (connected.socket === null) return { rt: null, error: connected.failure };
  connected.socket.resetAndDestroy();
  return { rt: roundMs(connected.ms), error: null };
}
