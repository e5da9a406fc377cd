import { roundMs, singleFamily, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import { NO_PARAMETERS } from '../../shared/error-codes.ts';
import { connectPinned } from '../../sockets/connect.ts';
import type { IcmpNotice } from '../../shared/icmp-contract.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import type { Offer } from '../../tls/certificate/trust-store.ts';
import { ATTEMPT_TIMEOUT_MS, dialogueOf, timeoutOf, type tcp } from './contract.ts';
import { compileDialogue, holdDialogue, NO_STEPS, type Dialogue, type DialogueEnd } from './dialogue.ts';

import { addressFields } from '../../shared/address-fields.ts';

type Tcp = typeof tcp;
type Row = { readonly rt: number; readonly error: null } | { readonly rt: null; readonly error: Failure };
/** A row of the result, and the ICMP error that caused its failure. */
interface Attempt {
  readonly row: Row;
  readonly icmp: IcmpNotice | null;
  /** True if an unread ICMP error may have arrived. */
  readonly icmpUnread: boolean;
  /** How the dialogue of the module ended, if there is one. */
  readonly held?: DialogueEnd;
}

/**
 * Performs handshakes with the pinned address one after another; each connection is reset at once without data. A
 * module's dialogue uses the first connection, which is then the only one, unless TLS needs post-quantum groups.
 */
export async function runTcp(params: ParamsOf<Tcp>, context: DiagnosticContext<Tcp>): Promise<Outcome<Tcp>> {
  const { host, port, options } = params;
  const rules = dialogueOf(params);
  const dialogue = rules === undefined ? undefined : compileDialogue(rules);
  if (dialogue !== undefined && 'failure' in dialogue) return notStarted(dialogue.failure, port);
  const admission = await admit(host, port, singleFamily(options), context);
  if ('failure' in admission) return notStarted(admission.failure, port);

  const attempts: Attempt[] = [];
  const show = (): void => {
    context.emitPartial({ resolvedIp: admission.target.address, port, attempts: rowsOf(attempts) });
  };
  show();
  while (attempts.length < options.attempts && !context.signal.aborted && attempts.at(-1)?.held === undefined) {
    const made = await attempt(admission.target, port, dialogue, timeoutOf(params) ?? ATTEMPT_TIMEOUT_MS, context);
    if (isCut(made, params, context)) break;
    attempts.push(made);
    if (made.held === undefined) show();
  }
  return outcome(admission.target, port, attempts);
}

/**
 * True if the time of the check ended before that of the handshake: its silence proves nothing. The run of a module has
 * no time other than that of its handshake.
 */
function isCut({ row: { error } }: Attempt, params: ParamsOf<Tcp>, { signal }: DiagnosticContext<Tcp>): boolean {
  return signal.aborted && error?.code === 'timed_out' && timeoutOf(params) === undefined;
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

/** No failure of the target: the resolution of its name may have taken the time of the check. */
const TOO_LATE: Failure = {
  code: 'probe_timeout',
  phase: 'connect',
  source: 'probe',
  message: 'Too little of the time of the check was left to await the answer to a SYN.',
};

function rowsOf(attempts: readonly Attempt[]): Row[] {
  return attempts.map(({ row }) => row);
}

function outcome(target: Target, port: number, attempts: readonly Attempt[]): Outcome<Tcp> {
  const rows = rowsOf(attempts);
  const common = { ...addressFields(target), port, attempts: rows };
  if (attempts.length === 0) return { result: 'timeout', rt: null, error: TOO_LATE, ...common };
  const open = rows.find((row) => row.error === null);
  const refused = attempts.find(({ icmp }) => icmp !== null);
  const held = attempts.at(-1)?.held;
  if (open !== undefined && held !== undefined) {
    const { failure, fields } = held;
    const result = failure === null ? 'success' : outcomeOf(failure);
    return { result, rt: open.rt, error: failure, state: 'open', icmp: null, ...common, ...fields };
  }
  if (open !== undefined) {
    return { result: 'success', rt: open.rt, error: null, state: 'open', icmp: refused?.icmp ?? null, ...common };
  }

  // An attempt with an answer takes precedence over a silent one.
  const telling = attempts.find(({ row }) => row.error?.code !== 'timed_out') ?? attempts[0];
  const error = telling?.row.error ?? timedOut('connect');
  const result = outcomeOf(error);
  const fields = {
    icmp: telling?.icmp ?? null,
    ...(attempts.some(({ icmpUnread }) => icmpUnread) ? { icmpUnread: true } : {}),
    ...common,
  };
  // A failure of the probe says nothing about the port.
  if (result === 'error') return { result, rt: null, error, ...fields };
  // If ICMP errors cannot be read, RST and port unreachable look the same; RST is far more frequent.
  return { result, rt: null, error, state: error.code === 'connection_refused' ? 'closed' : 'filtered', ...fields };
}

async function attempt(
  target: Target,
  port: number,
  dialogue: Dialogue | undefined,
  timeoutMs: number,
  context: DiagnosticContext<Tcp>,
  offer: Offer = 'usual',
): Promise<Attempt> {
  const connected = await connectPinned(target, port, context.signal, { timeoutMs, icmp: context });
  if (connected.ms === undefined) {
    const { failure, icmp = null, icmpUnread = false } = connected;
    return { row: { rt: null, error: failure }, icmp, icmpUnread };
  }
  const made = { row: { rt: roundMs(connected.ms), error: null }, icmp: null, icmpUnread: false };
  if (dialogue === undefined) {
    connected.socket?.resetAndDestroy();
    return made;
  }
  if (connected.socket === null) return { ...made, held: { failure: connected.failure, fields: NO_STEPS } };
  const onProgress = (fields: DialogueEnd['fields']): void =>
    context.emitPartial({ resolvedIp: target.address, port, state: 'open', attempts: [made.row], ...fields });
  const held = await holdDialogue(connected.socket, target, dialogue, { ...context, offer, onProgress });
  // The server agrees to no usual group, and may require a post-quantum one.
  if (offer === 'usual' && held.failure?.message === NO_PARAMETERS) {
    return attempt(target, port, dialogue, timeoutMs, context, 'with ML-KEM');
  }
  return { ...made, held };
}
