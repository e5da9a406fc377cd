import type { Target } from '@vantage/contract';

import type { DiagnosticContext, Outcome } from '../../../diagnostic.ts';
import type { PacketSockets } from '../../../sockets/packet-socket.ts';
import { unlessAborted } from '../../../sockets/provide-packets.ts';
import { MAX_FULL_SIZE_PACKETS, MAX_MTU_PACKETS, type traceroute } from '../contract.ts';
import { isReached } from '../hops/target-answers.ts';
import { ECHO_REQUESTS } from '../probing/port-filter.ts';
import type { ProbeLoopPlan } from '../probing/plan.ts';
import type { Trace } from '../probing/trace-state.ts';
import type { TraceOptions } from '../trace-options.ts';
import { sendFullSize, type FullSize } from './full-size.ts';
import type { MtuSearch } from './mtu-search.ts';
import { FIRST_BYTES } from './path-mtu.ts';

/** The flows of a trace that has ended, and what their packets have in common. */
type Flows = Pick<ProbeLoopPlan, 'flows' | 'destination' | 'protocol'> &
  Pick<Target, 'family'> & { readonly port: number; readonly tag: string };

/**
 * Awaits the search for the path MTU and at the same time sends packets of the trace's own protocol in full size;
 * returns the result fields about sizes.
 *
 * @param spent packets that were sent to the target after the trace
 */
export async function sizeFields(
  trace: Trace,
  mtu: MtuSearch,
  flows: Flows,
  { options, spent }: { readonly options: TraceOptions; readonly spent: number },
  packets: PacketSockets,
  context: DiagnosticContext<typeof traceroute>,
): Promise<Partial<Outcome<typeof traceroute>>> {
  const [{ mtu: searched, blackHole }, fullSize] = await Promise.all([
    mtu.result(trace),
    fullSizeOf(trace, mtu, flows, { ...options, mostPackets: options.mostPackets - spent }, packets, context),
  ]);
  // A size that a router reported to these packets, and that arrives, is the MTU unless a smaller one, or a black hole,
  // is known.
  const isSmaller = fullSize?.arrives === true && fullSize.bytes < Math.min(FIRST_BYTES, searched ?? Infinity);
  const pathMtu = isSmaller && blackHole === null ? fullSize.bytes : searched;
  return { pathMtu, mtuBlackHole: blackHole, ...(fullSize !== null && { fullSize }) };
}

/**
 * Tests whether packets of the trace's own protocol arrive in full size. Null for echo requests, which the search sends
 * anyway, and for a size that the request has chosen. Also null if the trace failed, was abandoned or did not reach the
 * target, if no source address is known, or if the packets prove nothing.
 */
async function fullSizeOf(
  trace: Trace,
  { reports: reported }: MtuSearch,
  { flows, destination, protocol, family, port, tag }: Flows,
  { size, mostPackets }: TraceOptions,
  packets: PacketSockets,
  context: DiagnosticContext<typeof traceroute>,
): Promise<FullSize | null> {
  const isAnswered = isReached(trace) && trace.failure === null && trace.isAbandoned !== true;
  if (!isAnswered || protocol === 'icmp' || size !== undefined) return null;
  const source = await unlessAborted(packets.sourceFor(destination), context.signal).catch(() => null);
  if (source === null) return null;
  const left = mostPackets - trace.packets.length - MAX_MTU_PACKETS - ECHO_REQUESTS;
  const maxPackets = Math.min(MAX_FULL_SIZE_PACKETS, left);
  const caughtUp = (): Promise<string> => packets.sourceFor(destination);
  const own = { protocol, family, source, destination, port, tag, maxPackets, reported, caughtUp };
  return sendFullSize(trace, flows, own, context);
}
