import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { verifyPings } from './ping.ts';
import { verifySummary } from './summary.ts';
import { verifyTraces } from './trace.ts';

/** All that is false or missing in the results of a case and in their summary. */
export function verifyCase(run: CaseRun): readonly Complaint[] {
  return [...(run.of.check === 'ping' ? verifyPings(run) : verifyTraces(run)), ...verifySummary(run)];
}
