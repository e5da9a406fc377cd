import { viewFlows, type FlowView } from '../flow-view.ts';
import type { ProbeLoopPlan } from '../plan.ts';
import { viewRounds } from './view-rounds.ts';
import type { Trace } from '../trace-state.ts';

/** Knowledge about the flows of a trace that has ended, with or without rounds. */
export function viewsOf({ packets, rounds }: Trace, plan: ProbeLoopPlan): readonly FlowView[] {
  return rounds === undefined ? viewFlows(packets, plan.flows.length, plan, new Set()) : [viewRounds(packets, plan)];
}
