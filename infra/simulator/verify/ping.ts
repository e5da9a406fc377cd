import type { Ping } from '../../netlab/test-lab.ts';
import { PROBES } from '../addresses.ts';
import type { CaseRun, Share } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { ownPassages, soundAnswer } from './truth.ts';

/** Round-trip time from which a reply counts as late (docs/packets.md). */
const LATE_MS = 4_000;
const CLOCK_MS = 0.1;
const DEFAULT_COUNT = 4;

export function verifyPings(run: CaseRun): readonly Complaint[] {
  return run.shares.flatMap((share) =>
    verifyPing(run, share).map((text) => ({ kind: 'ping' as const, text: `${PROBES[share.probe]}: ${text}` })),
  );
}

/** Each packet of the check compared with that of the log, in sending order. */
function verifyPing({ of }: CaseRun, share: Share): readonly string[] {
  const pinged = share.outcome as Ping;
  const sent = ownPassages(of, share);
  const wanted = Number(of.scenario.pingOptions?.['count'] ?? DEFAULT_COUNT);
  const wrong: string[] = [];
  if (sent.length !== wanted) wrong.push(`${sent.length} packets were sent, ${wanted} wanted`);
  if (pinged.pingCount !== sent.length) wrong.push(`pingCount is ${pinged.pingCount}, in truth ${sent.length}`);
  const rows = (pinged.packets ?? []).filter(({ duplicate }) => !duplicate);
  let received = 0;
  for (const [index, passage] of sent.entries()) {
    const answer = soundAnswer(passage);
    const isReply = answer?.what === 'reply';
    const rtt = isReply ? answer.atMs - passage.atMs : Infinity;
    const isDue = rtt < LATE_MS && answer!.atMs < share.endedMs;
    received += isDue ? 1 : 0;
    const row = rows.find(({ seq }) => seq === index + 1);
    if (row === undefined) continue;
    if (isDue !== (row.rtt !== null)) wrong.push(`packet ${index + 1}: rtt ${row.rtt}, in truth ${rtt}`);
    else if (row.rtt !== null && row.rtt < rtt - CLOCK_MS)
      wrong.push(`packet ${index + 1}: ${row.rtt} ms, in truth ${rtt}`);
  }
  const loss = sent.length === 0 ? null : 1 - received / sent.length;
  if (loss !== null && Math.abs((pinged.loss ?? -1) - loss) > 0.001)
    wrong.push(`loss is ${pinged.loss}, in truth ${loss}`);
  const copies = sent.reduce((sum, { answers }) => sum + Math.max(0, answers.length - 1), 0);
  const { duplicates = 0 } = pinged.anomalies ?? {};
  if (duplicates > copies) wrong.push(`${duplicates} duplicates, in truth ${copies}`);
  if ((pinged.result === 'success') !== received > 0) wrong.push(`result is ${pinged.result} with ${received} replies`);
  return wrong;
}
