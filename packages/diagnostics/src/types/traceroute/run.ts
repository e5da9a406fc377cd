import type { Failure, ParamsOf, Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { fieldsAfter } from './loss/after-trace.ts';
import { capabilityMissing, publicIp } from '../../sockets/provide-packets.ts';
import type { PacketSockets } from '../../sockets/packet-socket.ts';
import { portOf, refusedPort, type traceroute } from './contract.ts';
import { demoteFilters } from './probing/answer-kind.ts';
import { fitHops } from './hops/fit-hops.ts';
import type { TraceLimits } from './probing/flow-view.ts';
import { hopNames } from './hops/hop-names.ts';
import { fullTtlOf, formatPath, type HopFormat } from './hops/hops.ts';
import { mtuSearch } from './mtu/mtu-search.ts';
import { multipathOf } from './multipath/multipath.ts';
import { clockOf, partialsOf, roundsReported } from './partial-path.ts';
import { openFlows } from './probing/open-flows.ts';
import { ECHO_REQUESTS, foreignRefuser, isFilter } from './probing/port-filter.ts';
import { joinTraces } from './probing/other-traces.ts';
import type { ProbeLoopPlan } from './probing/plan.ts';
import type { Trace } from './probing/trace-state.ts';
import { hasSentNothing } from './probing/own/unsent-packets.ts';
import { viewsOf } from './probing/rounds/views-of.ts';
import { furthest } from './hops/stop-reason.ts';
import { NAMES_MS, planOf, RESERVE_MS, traceWithMtu } from './trace-with-mtu.ts';
import { traceOptions, type TraceOptions } from './trace-options.ts';
import { verdict } from './verdict.ts';
import { addressFields } from '../../shared/address-fields.ts';
import { stalledField } from '../../sockets/clock/stalled-field.ts';

type Traceroute = typeof traceroute;
type Context = DiagnosticContext<Traceroute>;
type TracerouteParams = ParamsOf<Traceroute>;
type TraceParams = Readonly<{ host: string; options: TraceOptions }>;

/** Traces the path to the pinned address with packets of one or several flows and growing TTLs. */
export async function runTraceroute(asked: TracerouteParams, context: Context): Promise<Outcome<Traceroute>> {
  const params = { host: asked.host, options: traceOptions(asked.options) };
  const { protocol } = params.options;
  // The coordinator refuses this too, but only the probe's decision counts.
  const refused = refusedPort(params.options);
  if (refused !== undefined) return notStarted(refusedByPolicy(refused), null, protocol);
  const admission = await admit(params, context);
  if ('failure' in admission) return notStarted(admission.failure, null, protocol);
  const { target } = admission;

  const { packets } = context;
  if ('unavailable' in packets) return notStarted(capabilityMissing(packets.unavailable), target, protocol);
  const mtu = mtuSearch(params.options, target, packets, context);
  const { payloadTag } = context.attribution;
  const openMore = (count: number): ReturnType<typeof openFlows> =>
    openFlows(params.options, target, packets, payloadTag, context.signal, count);
  const opened = await openMore(params.options.flows);
  if ('failure' in opened) {
    mtu.stop();
    return { ...notStarted(opened.failure, target, protocol), ...portInUse(opened.failure, params.options) };
  }
  const others = joinTraces(packets, `${protocol} ${target.address} ${portOf(params.options)}`);
  const names = hopNames(context.names, context.signal);
  const format = formatOf(params, target, names, context);
  const plan = planOf(params.options, opened, target, packets, context.remainingMs());
  try {
    const showPartial = partialsOf(target, params.options, names, format, context);
    const trace = await traceWithMtu(plan, params.options, { mtu, others, showPartial, openMore }, context);
    // The kernel sent no packet, so there is no path to describe.
    if (hasSentNothing(trace)) return notStarted(trace.failure, target, protocol);
    const room = params.options.mostPackets - trace.packets.length - (mtu.echo()?.sent ?? 0);
    if (room >= ECHO_REQUESTS) await demoteFilter(trace, plan, target, packets, context);
    showPartial(trace);
    const flow = { ...plan, ...target, port: portOf(params.options), tag: payloadTag };
    const [after] = await Promise.all([
      fieldsAfter(trace, mtu, flow, params.options, packets, context),
      names.settled(Math.min(NAMES_MS, context.remainingMs() - RESERVE_MS)),
    ]);
    const { hops, flows } = formatPath(trace, { ...format, hasReplies: true, nextMtus: mtu.reported(trace) });
    const multipath = params.options.isOfAllFlows ? multipathOf(trace, format) : undefined;
    return {
      ...addressFields(target),
      protocol,
      ...askedFields(asked.options),
      hops: fitHops(hops, multipath),
      ...(multipath === undefined ? { flows } : { flows: flows.slice(0, 1), multipath }),
      stopReason: furthest(flows.map(({ stopReason }) => stopReason)),
      fullTtl: fullTtlOf(trace, format, others.areAnswered()),
      ...after,
      echo: mtu.echo(),
      clock: clockOf(trace),
      ...progressFields(trace, plan),
      ...verdict(trace, protocol, target, format.publicIp),
    };
  } finally {
    mtu.stop();
    others.leave();
    for (const { socket } of plan.flows) socket.close();
  }
}

/** Result field with the requested source port if the probe was busy, since the port may be in use. */
function portInUse({ code }: Failure, { sourcePort }: TraceParams['options']): Partial<Outcome<Traceroute>> {
  return code === 'probe_busy' && sourcePort !== undefined ? { sourcePort } : {};
}

function progressFields(trace: Trace, limits: TraceLimits): Partial<Outcome<Traceroute>> {
  const { roundsLeftOut = 0, stalledMs } = trace;
  const fields = {
    ...stalledField(stalledMs),
    ...roundsReported(trace, limits),
    ...(roundsLeftOut > 0 && { roundsLeftOut }),
  };
  return trace.rounds !== undefined && trace.isAbandoned === true
    ? { ...fields, roundsEnded: 'stream_closed' }
    : fields;
}

/**
 * Result fields for options that agents of earlier releases ignore: their presence shows that the options were applied.
 * Also the port, even if it is the protocol’s default.
 */
function askedFields(options: TracerouteParams['options']): Partial<Outcome<Traceroute>> {
  const { protocol, firstHop, size, dscp, sourcePort } = options;
  const port = protocol === 'icmp' ? undefined : portOf(options);
  return Object.fromEntries(
    Object.entries({ port, firstHop, size, dscp, sourcePort }).filter(([, value]) => value !== undefined),
  );
}

function formatOf(
  { options }: TraceParams,
  target: Target,
  names: ReturnType<typeof hopNames>,
  context: Context,
): HopFormat {
  return {
    family: target.family,
    protocol: options.protocol,
    firstHop: options.firstHop,
    maxHops: options.maxHops,
    publicIp: (address) => publicIp(address, target, context),
    isPrivate: (address) => address !== target.address && context.isPrivateAddress(address),
    name: names.known,
  };
}

async function admit(
  { host, options }: TraceParams,
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

/**
 * If an address other than the target's refused the port, and time is left, finds out with echo requests whether the
 * address is that of a packet filter. If so, its answers no longer count as the target's.
 */
async function demoteFilter(
  trace: Trace,
  plan: ProbeLoopPlan,
  target: Target,
  packets: PacketSockets,
  { attribution, signal, remainingMs }: Context,
): Promise<void> {
  const refuser = foreignRefuser(trace, plan.destination);
  if (refuser === undefined || remainingMs() < NAMES_MS + RESERVE_MS) return;
  const { dscp } = plan.flows[0]!.header;
  const asked = isFilter(refuser, target, packets, { tag: attribution.payloadTag, dscp }, signal);
  if (!(await asked.catch(() => false))) return;
  demoteFilters(refuser.address, plan.destination, trace.packets);
  trace.views = viewsOf(trace, plan);
}

function refusedByPolicy(message: string): Failure {
  return { code: 'target_refused_by_policy', phase: 'request', source: 'probe', message };
}

function notStarted(error: Failure, target: Target | null, protocol: 'icmp' | 'udp' | 'tcp'): Outcome<Traceroute> {
  const nothing = { rt: null, hops: [], flows: [], reached: false, stopReason: null, fullTtl: null };
  const unknown = { pathMtu: null, mtuBlackHole: null, echo: null, loop: null, clock: null };
  return { result: outcomeOf(error), error, resolvedIp: target?.address ?? null, protocol, ...nothing, ...unknown };
}
