import type { DiagnosticContext, Outcome } from '../../../diagnostic.ts';
import type { PacketSockets } from '../../../sockets/packet-socket.ts';
import { MAX_MTU_PACKETS, type traceroute } from '../contract.ts';
import { sendSpaced } from './spaced-packets.ts';
import { isExtraordinary, ORDINARY_ECHO } from '../options/header-options.ts';
import { ordinaryEcho } from '../mtu/ordinary-echo.ts';
import { isUnanswered } from '../verdict.ts';
import { sizeFields } from '../mtu/size-fields.ts';
import { ECHO_REQUESTS } from '../probing/port-filter.ts';
import { NAMES_MS, RESERVE_MS } from '../trace-with-mtu.ts';

type Context = DiagnosticContext<typeof traceroute>;
type SizeArguments = Parameters<typeof sizeFields>;

/**
 * Sends further packets after the trace, first to tell loss from rate limits, then large ones; returns their result
 * fields.
 */
export async function fieldsAfter(
  trace: SizeArguments[0],
  mtu: SizeArguments[1],
  flows: SizeArguments[2],
  options: SizeArguments[3]['options'],
  packets: PacketSockets,
  context: Context,
): Promise<Partial<Outcome<typeof traceroute>>> {
  const target = { address: flows.destination, family: flows.family };
  const left = options.mostPackets - trace.packets.length - MAX_MTU_PACKETS - ECHO_REQUESTS;
  const isAsked = trace.failure === null && trace.isAbandoned !== true;
  const remainingMs = (): number => context.remainingMs() - NAMES_MS - RESERVE_MS;
  const { signal, abandoned } = context;
  const limits = { maxPackets: left, isOfAllFlows: options.isOfAllFlows, signal, abandoned, remainingMs };
  const asking = { ...flows, caughtUp: () => packets.sourceFor(flows.destination) };
  const spaced = isAsked ? await sendSpaced(trace, asking, limits) : null;
  const sizes = await sizeFields(trace, mtu, flows, { options, spent: spaced?.sent ?? 0 }, packets, context);
  const sent = trace.packets.length + (mtu.echo()?.sent ?? 0) + (spaced?.sent ?? 0);
  const isSilent = isAsked && isUnanswered(trace, options.protocol, target) && (mtu.echo()?.received ?? 0) === 0;
  // `demoteFilter` may have sent another `ECHO_REQUESTS` packets.
  const hasRoom = options.mostPackets - sent >= ECHO_REQUESTS + ORDINARY_ECHO.count;
  const ordinary =
    isSilent && hasRoom && isExtraordinary(options)
      ? await ordinaryEcho(target, packets, { signal, remainingMs: context.remainingMs })
      : null;
  return { ...sizes, ...(spaced !== null && { spaced }), ...(ordinary !== null && { ordinary }) };
}
