import type { Admit, AnyCheckType, CommonResult, NameLookup, ParamsOf, ResultFieldsOf } from '@vantage/contract';

import type { TrustStore } from './tls/certificate/trust-store.ts';
import type { IcmpContext } from './sockets/icmp/icmp-watch.ts';
import type { ReceiveWindow } from './sockets/receive-window.ts';

/** What a diagnostic gets from the agent for one run. */
export interface DiagnosticContext<C extends AnyCheckType = AnyCheckType> extends IcmpContext {
  /** Aborted when the run must end; the run then returns what it has. */
  readonly signal: AbortSignal;
  /** Aborted when no client follows the check any more; absent if the check continues without one. */
  readonly abandoned?: AbortSignal | undefined;
  /** Milliseconds left of the time of the run, by a monotonic clock. */
  readonly remainingMs: () => number;
  readonly admit: Admit;
  readonly names: NameLookup;
  /**
   * The probe's own resolvers, `address` or `address:port` / `[address]:port`, in order; exempt from the target policy.
   */
  readonly resolvers: readonly string[];
  /** Bounds how much a target can send ahead of reads; undefined if the system cannot. */
  readonly receiveWindow?: ReceiveWindow | undefined;
  /** How the probe names itself to targets: the HTTP `User-Agent`, and a tag in ICMP and UDP payloads. */
  readonly attribution: { readonly userAgent: string; readonly payloadTag: string };
  /** Certificates in PEM to trust in addition to those that Node trusts. */
  readonly certificateAuthorities?: readonly string[] | undefined;
  /** All trusted certificates, parsed once for all checks; if absent, each check parses them itself. */
  readonly trust?: TrustStore | undefined;
  /** Publishes partial results. Cheap to call: the agent sends only the newest state, at intervals. */
  readonly emitPartial: (fields: PartialFields<C>) => void;
}

/** Fields known before the end of a run: those of the type, and common ones that do not depend on the end. */
export type PartialFields<C extends AnyCheckType> = ResultFieldsOf<C> &
  Partial<Pick<CommonResult, 'rt' | 'resolvedIp'>>;

/**
 * The outcome of a run: the common fields without start and end times, which the agent adds, and the fields of the
 * type.
 */
export type Outcome<C extends AnyCheckType> = Pick<CommonResult, 'result' | 'rt' | 'resolvedIp' | 'error' | 'stalled'> &
  ResultFieldsOf<C>;

/**
 * The code that runs one check type. A failure of the target, a resolver or the network is data in the outcome; a
 * rejection, except with the reason of an abort, is a defect of this code.
 */
export interface Diagnostic<C extends AnyCheckType> {
  readonly checkType: C;
  readonly run: (params: ParamsOf<C>, context: DiagnosticContext<C>) => Promise<Outcome<C>>;
}

/** The part of the context that all runs of a probe share. */
export type ProbeContext = Omit<DiagnosticContext, keyof RunBounds>;

/** Parameters that differ per run. */
type RunBounds<C extends AnyCheckType = AnyCheckType> = Pick<
  DiagnosticContext<C>,
  'signal' | 'abandoned' | 'remainingMs' | 'emitPartial'
>;

export interface RunOptions<C extends AnyCheckType = AnyCheckType> {
  /** Ends the run when it aborts; by default it aborts after `budgetMs`. */
  readonly signal?: AbortSignal | undefined;
  readonly abandoned?: AbortSignal | undefined;
  /** Milliseconds from now that the run may take. */
  readonly budgetMs: number;
  readonly emitPartial?: ((fields: PartialFields<C>) => void) | undefined;
}

/** Creates the context of a run; its clock starts now. */
export function createContext<C extends AnyCheckType = AnyCheckType>(
  probeContext: ProbeContext,
  { budgetMs, signal = AbortSignal.timeout(budgetMs), abandoned, emitPartial = () => undefined }: RunOptions<C>,
): DiagnosticContext<C> {
  const deadline = performance.now() + budgetMs;
  const remainingMs = (): number => Math.max(0, deadline - performance.now());
  return { ...probeContext, signal, abandoned, remainingMs, emitPartial };
}
