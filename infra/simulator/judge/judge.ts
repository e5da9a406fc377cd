import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { judgePings } from './ping.ts';
import { judgeSummary } from './summary.ts';
import { judgeTraces } from './trace.ts';

/** All statements of a case that are false. */
export function judge(run: CaseRun): readonly Complaint[] {
  return [...(run.of.check === 'ping' ? judgePings(run) : judgeTraces(run)), ...judgeSummary(run)];
}
