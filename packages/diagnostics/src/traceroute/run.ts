import type { Failure, ParamsOf, Target } from '@vantage/contract';

import { classifyError, outcomeOf, timedOut } from '../classify.ts';
import type { DiagnosticContext, Outcome } from '../diagnostic.ts';
import { icmpFailure } from '../sockets/icmp-failure.ts';
import { capabilityMissing, openPackets, shownAddress } from '../sockets/lend.ts';
import type { PacketSocket, PacketSockets } from '../sockets/packet-socket.ts';
import type { traceroute } from './contract.ts';
import { fitHops } from './fit-hops.ts';
import { traceFlow } from './flow.ts';
import { hopNames, type HopNames } from './hop-names.ts';
import { hopsOf, median, type HopDress } from './hops.ts';
import { findPathMtu } from './path-mtu.ts';
import { pursue, type PursuitFlow, type Trace } from './pursue.ts';
import { rttOf } from './trace.ts';

type Traceroute = typeof traceroute;
type Context = DiagnosticContext<Traceroute>;
type TracerouteParams = ParamsOf<Traceroute>;

const DEFAULT_PORTS = { icmp: 0, udp: 33_434, tcp: 80 } as const;
/** Time for the last names, and left of the deadline for the result to get home. */
const NAMES_MS = 1_500;
const RESERVE_MS = 500;

/** Packets of one flow, or of several, with growing TTLs to the pinned address. */
export async function runTraceroute(params: TracerouteParams, context: Context): Promise<Outcome<Traceroute>> {
  const { protocol } = params.options;
  const admission = await admit(params, context);
  if ('failure' in admission) return notStarted(admission.failure, null, protocol);
  const { target } = admission;

  const { packets } = context;
  if ('unavailable' in packets) return notStarted(capabilityMissing(packets.unavailable), target, protocol);
  const opened = await openFlows(params, target, packets, context.attribution.payloadTag);
  if ('failure' in opened) return notStarted(opened.failure, target, protocol);
  const names = hopNames(context.names, context.signal);
  const dress: HopDress = {
    family: target.family,
    queries: params.options.queries,
    shown: (address) => shownAddress(address, target, context),
    isPrivate: (address) => address !== target.address && context.isPrivateAddress(address),
    hostname: names.known,
  };
  try {
    const showPartial = (trace: Trace): void => {
      askNames(trace, names, dress);
      context.emitPartial({ hops: fitHops(hopsOf(trace, dress)), protocol, reached: isReached(trace) });
    };
    const plan = {
      flows: opened.flows,
      destination: target.address,
      maxHops: params.options.maxHops,
      queries: params.options.queries,
      budgetMs: context.remainingMs() - NAMES_MS - RESERVE_MS,
    };
    const trace = await pursue(plan, context.signal, showPartial);
    const [pathMtu] = await Promise.all([
      learnPathMtu(trace, packets, target, context),
      names.settled(Math.min(NAMES_MS, context.remainingMs() - RESERVE_MS)),
    ]);
    const common = { resolvedIp: target.address, protocol, hops: fitHops(hopsOf(trace, dress)), pathMtu };
    return { ...common, ...verdict(trace, target, dress) };
  } finally {
    for (const { socket } of opened.flows) socket.close();
  }
}

async function admit(
  { host, options }: TracerouteParams,
  { admit, signal }: Context,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  const { protocol, family, port = DEFAULT_PORTS[protocol] } = options;
  const request = { host, family, purpose: protocol, ...(protocol === 'icmp' ? {} : { port }) };
  try {
    const admission = await admit(request, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

function notStarted(error: Failure, target: Target | null, protocol: 'icmp' | 'udp' | 'tcp'): Outcome<Traceroute> {
  const nothing = { rt: null, hops: [], reached: false, pathMtu: null, loop: null };
  return { result: outcomeOf(error), error, resolvedIp: target?.address ?? null, protocol, ...nothing };
}

interface OpenedFlows {
  readonly flows: readonly PursuitFlow[];
}

async function openFlows(
  { options }: TracerouteParams,
  { address, family }: Target,
  packets: PacketSockets,
  tag: string,
): Promise<OpenedFlows | { readonly failure: Failure }> {
  const { protocol, port = DEFAULT_PORTS[protocol] } = options;
  const sockets: PacketSocket[] = [];
  const giveUp = (failure: Failure): { readonly failure: Failure } => {
    for (const socket of sockets) socket.close();
    return { failure };
  };
  while (sockets.length < options.flows) {
    const opened = await openPackets(packets, { family, protocol });
    if ('failure' in opened) return giveUp(opened.failure);
    sockets.push(opened.socket);
  }
  try {
    const source = await packets.sourceFor(address);
    const common = { protocol, family, source, destination: address, port, tag };
    const flows = sockets.map((socket) => ({ socket, flow: traceFlow({ ...common, identifier: socket.identifier }) }));
    return { flows };
  } catch (error) {
    return giveUp(classifyError(error, 'request'));
  }
}

function askNames({ packets }: Trace, names: HopNames, dress: HopDress): void {
  for (const { answer } of packets) {
    // The name of an address that is not shown would give it away.
    if (answer !== null && dress.shown(answer.from) !== null) names.ask(answer.from);
  }
}

async function learnPathMtu(
  trace: Trace,
  packets: PacketSockets,
  target: Target,
  context: Context,
): Promise<number | null> {
  const named = trace.packets.flatMap(({ answer }) => (answer?.error?.kind === 'too-big' ? [answer.error.mtu] : []));
  const smallest = named.filter((mtu) => mtu >= 68).toSorted((a, b) => a - b)[0];
  if (smallest !== undefined || !isReached(trace) || trace.failure !== null) return smallest ?? null;
  return findPathMtu(packets, target, rtOf(trace) ?? 0, context);
}

function isReached({ views }: Trace): boolean {
  return views.some(({ reached }) => reached);
}

function rtOf({ packets }: Trace): number | null {
  const atTarget = packets.filter(({ answer }) => answer?.kind === 'target');
  return median(atTarget.flatMap((packet) => rttOf(packet) ?? []));
}

type Verdict = Pick<Outcome<Traceroute>, 'result' | 'rt' | 'error' | 'reached' | 'loop'>;

function verdict(trace: Trace, target: Target, dress: HopDress): Verdict {
  const found = trace.views.find(({ loop }) => loop !== null)?.loop ?? null;
  const loop = found === null ? null : { start: found.start, length: found.length };
  const rt = rtOf(trace);
  if (isReached(trace)) return { result: 'success', rt, error: null, reached: true, loop };
  const error = failureOf(trace, target, dress);
  return { result: outcomeOf(error), rt: null, error, reached: false, loop };
}

function failureOf({ packets, views, failure }: Trace, target: Target, dress: HopDress): Failure {
  if (failure !== null) return failure;
  const refusal = packets.find(({ answer }) => answer?.kind === 'refused')?.answer;
  if (refusal?.error) return icmpFailure(target.family, refusal.error, dress.shown(refusal.from), target.address);
  const loop = views.find((view) => view.loop !== null)?.loop;
  if (loop)
    return timedOut('response', `The packets go round in a circle of ${loop.length} hops from hop ${loop.start}.`);
  const answered = packets.filter(({ answer }) => answer !== null).map(({ ttl }) => ttl);
  if (answered.length === 0) return timedOut('response', 'No hop answered.');
  return timedOut('response', `The target was not reached; the last hop that answered is ${Math.max(...answered)}.`);
}
