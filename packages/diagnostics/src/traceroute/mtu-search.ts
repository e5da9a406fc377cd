import type { ParamsOf, Target } from '@vantage/contract';

import type { DiagnosticContext } from '../diagnostic.ts';
import type { PacketSockets } from '../sockets/packet-socket.ts';
import { MAX_PACKETS, type traceroute } from './contract.ts';
import { findPathMtu, MAX_MTU_PACKETS } from './path-mtu.ts';
import type { Trace } from './pursue.ts';
import { isReached, rtOf } from './target-answers.ts';

export interface MtuSearch {
  /** At the first answer of anyone, beside the trace where its packets leave room for more, so that it takes no time. */
  readonly start: (trace: Trace) => void;
  /** Null where the target was not reached. */
  readonly result: (trace: Trace) => Promise<number | null>;
  readonly stop: () => void;
}

/** The path MTU of a trace. */
export function mtuSearch(
  { maxHops, queries, flows }: ParamsOf<typeof traceroute>['options'],
  target: Target,
  packets: PacketSockets,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): MtuSearch {
  const over = new AbortController();
  const lent = { signal: AbortSignal.any([signal, over.signal]), remainingMs };
  const planned = maxHops * queries * flows;
  let found: Promise<number | null> | undefined;
  const search = (trace: Trace, maxPackets: number): void => {
    found ??= findPathMtu(packets, target, { rttMs: () => rtOf(trace), maxPackets }, lent);
  };
  return {
    start: (trace) => {
      const isAnswered = trace.packets.some(({ answer }) => answer !== null);
      if (isAnswered && planned + MAX_MTU_PACKETS <= MAX_PACKETS) search(trace, MAX_MTU_PACKETS);
    },
    result: async (trace) => {
      const named = trace.packets.flatMap(({ answer }) =>
        answer?.error?.kind === 'too-big' ? [answer.error.mtu] : [],
      );
      const smallest = named.filter((mtu) => mtu >= 68).toSorted((a, b) => a - b)[0];
      if (smallest !== undefined || !isReached(trace) || trace.failure !== null) return smallest ?? null;
      search(trace, MAX_PACKETS - trace.packets.length);
      return (await found) ?? null;
    },
    stop: () => over.abort(),
  };
}
