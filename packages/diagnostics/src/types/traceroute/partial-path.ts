import type { ParamsOf, Target } from '@vantage/contract';

import type { TraceLimits } from './probing/flow-view.ts';
import { countsByTargetHop } from './probing/rounds/view-rounds.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import type { Clock } from '../../sockets/packet-socket.ts';
import { worstClock } from '../../sockets/provide-packets.ts';
import type { traceroute } from './contract.ts';
import { fitHops } from './hops/fit-hops.ts';
import type { HopNames } from './hops/hop-names.ts';
import { formatPath, type HopFormat } from './hops/hops.ts';
import { isReached } from './hops/target-answers.ts';
import type { Trace } from './probing/trace-state.ts';

type Traceroute = typeof traceroute;

/** @returns a function that emits the state of a trace as a partial result */
export function partialsOf(
  target: Target,
  options: TraceLimits & Pick<ParamsOf<Traceroute>['options'], 'protocol'>,
  names: HopNames,
  format: HopFormat,
  context: DiagnosticContext<Traceroute>,
): (trace: Trace) => void {
  return (trace) => {
    askNames(trace, names, format);
    const { hops } = formatPath(trace, format);
    context.emitPartial({
      resolvedIp: target.address,
      hops: fitHops(hops),
      protocol: options.protocol,
      reached: isReached(trace),
      clock: clockOf(trace),
      ...roundsReported(trace, options),
    });
  };
}

/**
 * Fields of a trace with rounds: their number, and the target's hops if its distance changed or was first found in a
 * later round. Empty without rounds.
 */
export function roundsReported(
  { rounds, packets }: Trace,
  limits: TraceLimits,
): Pick<Outcome<Traceroute>, 'rounds' | 'targetHops'> {
  if (rounds === undefined) return {};
  const targetHops = countsByTargetHop(packets, limits);
  return targetHops === undefined ? { rounds } : { rounds, targetHops: [...targetHops] };
}

function askNames({ packets }: Trace, names: HopNames, format: HopFormat): void {
  for (const { answer } of packets) {
    // The name of a hidden address would reveal it.
    if (answer !== null && format.publicIp(answer.from) !== null) names.ask(answer.from);
  }
}

export function clockOf({ packets }: Trace): Clock | null {
  return worstClock(packets.flatMap(({ answer }) => answer?.clock ?? []));
}
