import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { judgePings } from './ping.ts';
import { judgeSummary } from './summary.ts';
import { judgeTraces } from './trace.ts';

/** Everything that a case says and that is not so. */
export function judge(run: CaseRun): readonly Complaint[] {
  return [...(run.of.check === 'ping' ? judgePings(run) : judgeTraces(run)), ...judgeSummary(run)];
}
