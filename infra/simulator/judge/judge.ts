import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { judgePings } from './ping.ts';
import { judgeSummary } from './summary.ts';
import { judgeTraces } from './trace.ts';

/** All that is false or missing in the results of a case and in their summary. */
export function judge(run: CaseRun): readonly Complaint[] {
  return [...(run.of.check === 'ping' ? judgePings(run) : judgeTraces(run)), ...judgeSummary(run)];
}
