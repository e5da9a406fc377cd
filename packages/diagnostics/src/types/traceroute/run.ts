import type { Failure, ParamsOf, Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { capabilityMissing, shownAddress } from '../../sockets/provide-packets.ts';
import type { PacketSockets } from '../../sockets/packet-socket.ts';
import { addressBytes, addressText } from '../../shared/address-bytes.ts';
import { MAX_MTU_PACKETS, MAX_PACKETS, portOf, queriesOf, refusedPort, type traceroute } from './contract.ts';
import { demoteFilters } from './probing/answer-kind.ts';
import { fitHops } from './hops/fit-hops.ts';
import { viewFlows } from './probing/flow-view.ts';
import { hopNames } from './hops/hop-names.ts';
import { fullTtlOf, shownPath, type HopDress } from './hops/hops.ts';
import { mtuSearch } from './mtu/mtu-search.ts';
import { clockOf, partialsOf } from './partial-path.ts';
import { openFlows } from './probing/open-flows.ts';
import { ECHO_REQUESTS, foreignRefuser, isFilter } from './probing/port-filter.ts';
import { joinTraces } from './probing/other-traces.ts';
import { pursue, type PursuitPlan } from './probing/pursue.ts';
import { ROUND_MS, runRounds } from './probing/rounds.ts';
import type { Trace } from './probing/trace-state.ts';
import { MAX_WAIT_MS } from './probing/waits.ts';
import { furthest } from './hops/stop-reason.ts';
import { isReached } from './hops/target-answers.ts';
import { verdict } from './verdict.ts';

type Traceroute = typeof traceroute;
type Context = DiagnosticContext<Traceroute>;
type TracerouteParams = ParamsOf<Traceroute>;

/** Time for the last names, and left of the deadline for the result to get home. */
const NAMES_MS = 1_500;
const RESERVE_MS = 500;

/** Traces the path to the pinned address with packets of one or several flows and growing TTLs. */
export async function runTraceroute(asked: TracerouteParams, context: Context): Promise<Outcome<Traceroute>> {
  const params = { ...asked, options: { ...asked.options, queries: queriesOf(asked.options) } };
  const { protocol } = params.options;
  // The coordinator refuses this; the probe is the one that counts.
  const refused = refusedPort(params.options);
  if (refused !== undefined) return notStarted(refusedByPolicy(refused), null, protocol);
  const admission = await admit(params, context);
  if ('failure' in admission) return notStarted(admission.failure, null, protocol);
  const { target } = admission;

  const { packets } = context;
  if ('unavailable' in packets) return notStarted(capabilityMissing(packets.unavailable), target, protocol);
  const mtu = mtuSearch(params.options, target, packets, context);
  const opened = await openFlows(params, target, packets, context.attribution.payloadTag, context.signal);
  if ('failure' in opened) {
    mtu.stop();
    return notStarted(opened.failure, target, protocol);
  }
  const others = joinTraces(packets, `${protocol} ${target.address} ${portOf(params.options)}`);
  const names = hopNames(context.names, context.signal);
  const dress = dressOf(params, target, names, context);
  const plan = planOf(params, opened.flows, target, context);
  try {
    const showPartial = partialsOf(target, protocol, names, dress, context);
    const trace = await traceWithMtu(plan, mtu, others, context, showPartial, params.options.rounds);
    // If the kernel lets nothing out, there is no path that could have ended anywhere.
    if (trace.failure?.phase === 'request') return notStarted(trace.failure, target, protocol);
    const room = MAX_PACKETS - trace.packets.length - (mtu.echo()?.sent ?? 0);
    if (room >= ECHO_REQUESTS) await demoteFilter(trace, plan, target, packets, context);
    showPartial(trace);
    const [{ mtu: pathMtu, blackHole: mtuBlackHole }] = await Promise.all([
      mtu.result(trace),
      names.settled(Math.min(NAMES_MS, context.remainingMs() - RESERVE_MS)),
    ]);
    const { hops, flows } = shownPath(trace, dress);
    return {
      resolvedIp: target.address,
      protocol,
      hops: fitHops(hops),
      flows,
      stopReason: furthest(flows.map(({ stopReason }) => stopReason)),
      fullTtl: fullTtlOf(trace, dress, others.areAnswered()),
      pathMtu,
      mtuBlackHole,
      echo: mtu.echo(),
      clock: clockOf(trace),
      ...(trace.rounds === undefined ? {} : { rounds: trace.rounds }),
      ...verdict(trace, protocol, target, dress.shown),
    };
  } finally {
    mtu.stop();
    others.leave();
    for (const { socket } of opened.flows) socket.close();
  }
}

function planOf(
  { options }: TracerouteParams,
  flows: PursuitPlan['flows'],
  target: Target,
  context: Context,
): PursuitPlan {
  const { protocol, maxHops, queries, rounds } = options;
  const roundsMs = rounds === undefined ? 0 : rounds * ROUND_MS + MAX_WAIT_MS;
  return {
    ...{ flows, protocol, maxHops, queries, maxPackets: MAX_PACKETS },
    destination: addressText(addressBytes(target.address)),
    budgetMs: context.remainingMs() - NAMES_MS - RESERVE_MS - roundsMs,
  };
}

function dressOf(
  { options }: TracerouteParams,
  target: Target,
  names: ReturnType<typeof hopNames>,
  context: Context,
): HopDress {
  return {
    family: target.family,
    maxHops: options.maxHops,
    shown: (address) => shownAddress(address, target, context),
    isPrivate: (address) => address !== target.address && context.isPrivateAddress(address),
    name: names.known,
  };
}

/** Runs the trace, and the search for the path MTU at the same time. */
async function traceWithMtu(
  plan: PursuitPlan,
  mtu: ReturnType<typeof mtuSearch>,
  others: ReturnType<typeof joinTraces>,
  { signal, remainingMs }: Context,
  showPartial: (trace: Trace) => void,
  rounds: number | undefined,
): Promise<Trace> {
  // One partial result for all answers read in the same turn.
  let due: NodeJS.Immediate | undefined;
  const onChange = (trace: Trace): void => {
    mtu.note(trace);
    if (isReached(trace)) others.noteAnswer();
    due ??= setImmediate(() => {
      due = undefined;
      showPartial(trace);
    });
  };
  const startedMs = performance.now();
  const pursuit = pursue(plan, signal, (trace) => {
    // Its first states already have the figures of the first round.
    if (rounds !== undefined) trace.rounds = 1;
    onChange(trace);
  });
  mtu.start();
  const trace = await pursuit;
  if (rounds !== undefined) {
    trace.rounds = 1;
    const maxPackets = MAX_PACKETS - trace.packets.length - MAX_MTU_PACKETS - ECHO_REQUESTS;
    const budgetMs = remainingMs() - NAMES_MS - RESERVE_MS;
    await runRounds(trace, { ...plan, rounds, maxPackets, budgetMs, startedMs }, signal, onChange);
  }
  clearImmediate(due);
  return trace;
}

async function admit(
  { host, options }: TracerouteParams,
  { admit, signal }: Context,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  const { protocol, family } = options;
  const request = { host, family, purpose: protocol, ...(protocol === 'icmp' ? {} : { port: portOf(options) }) };
  try {
    const admission = await admit(request, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

/** Detects a packet filter that refuses the port by its behaviour with echo requests. */
async function demoteFilter(
  trace: Trace,
  plan: PursuitPlan,
  target: Target,
  packets: PacketSockets,
  { attribution, signal, remainingMs }: Context,
): Promise<void> {
  const refuser = foreignRefuser(trace, plan.destination);
  if (refuser === undefined || remainingMs() < NAMES_MS + RESERVE_MS) return;
  const asked = isFilter(refuser, target, packets, attribution.payloadTag, signal);
  if (!(await asked.catch(() => false))) return;
  demoteFilters(refuser.address, plan.destination, trace.packets);
  trace.views = viewFlows(trace.packets, plan.flows.length, plan, new Set());
}

function refusedByPolicy(message: string): Failure {
  return { code: 'target_refused_by_policy', phase: 'request', source: 'probe', message };
}

function notStarted(error: Failure, target: Target | null, protocol: 'icmp' | 'udp' | 'tcp'): Outcome<Traceroute> {
  const nothing = { rt: null, hops: [], flows: [], reached: false, stopReason: null, fullTtl: null };
  const unknown = { pathMtu: null, mtuBlackHole: null, echo: null, loop: null, clock: null };
  return { result: outcomeOf(error), error, resolvedIp: target?.address ?? null, protocol, ...nothing, ...unknown };
}
