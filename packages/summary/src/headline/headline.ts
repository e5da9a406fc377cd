import type { Check, Verdict } from '@vantage/contract';

import { pairHeadline } from '../between/pair-headline.ts';
import { countedPhrase } from '../counted-phrase.ts';
import { isMade } from '../dns-answer.ts';
import type { FindingDraft } from '../finding.ts';
import type { Partition } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { countOf, fromAll, fromAny, naming } from '../words.ts';
import { hostOf } from './request.ts';
import { confirmingResults, ofEchoAlone } from './confirming.ts';
import { partlyRedirected } from './http.ts';
import { limitationOf } from './limitation.ts';
import { isNameless, negative, positive } from './statements.ts';
import { supplementOf } from './supplement.ts';
import { unknownOf } from './unknown.ts';

interface HeadlineInput {
  readonly check: Check;
  readonly probeResults: readonly ProbeResult[];
  readonly partition: Partition;
  readonly verdict: Verdict;
  /** Findings in descending severity. */
  readonly findings: readonly FindingDraft[];
}

/** The verdict, its main reason or time, and the silent and pending probes. */
export function headlineOf(input: HeadlineInput): string {
  const { check, partition, verdict, findings } = input;
  const limitation = verdict === 'degraded' ? limitationOf(check, findings, partition.up) : undefined;
  const ofPair = pairHeadline(check, partition, limitation, findings);
  if (ofPair !== undefined) return ofPair;
  const { pending, silent } = input.partition.counts;
  // The headline of an unknown verdict names the silent probes itself, or the pending ones if none is silent.
  const isUnknown = verdict === 'unknown';
  const ofSilent = silent > 0 && !isUnknown ? `; ${countOf(silent, 'probe')} ${silenceOf(input)}` : '';
  const ofPending =
    pending > 0 && (silent > 0 || !isUnknown) ? `; ${countOf(pending, 'probe')} ${notYet(pending)}` : '';
  return `${answerOf(input)}${ofSilent}${ofPending}.`;
}

function notYet(pending: number): string {
  return `${pending === 1 ? 'has' : 'have'} not answered yet`;
}

function silenceOf({ check: { type }, partition }: HeadlineInput): string {
  if (type === 'traceroute' || type === 'ping') return 'heard nothing from it, which proves nothing';
  const nothing = partition.silent.some(({ result }) => isMade(result)) ? 'that counts' : 'to the question';
  return `${type === 'dns' ? `got no answer ${nothing}` : 'heard nothing back'}, which proves neither`;
}

function answerOf(input: HeadlineInput): string {
  const { check, partition, verdict, findings } = input;
  const { up, down, counted } = partition;
  if (verdict === 'unknown') return unknownOf(check, input.probeResults, partition);
  if (verdict === 'down') {
    const resolved = input.probeResults.filter(({ result }) => typeof result.resolvedIp === 'string');
    if (isNameless(check, down) && resolved.length > 0) {
      return `The name of ${hostOf(check)} resolves from ${countOf(resolved.length, 'probe')}, and not from ${naming(down)}: ${reasonsOf(down)}`;
    }
    return `${negative(check, input.probeResults, down)} ${fromAny(down.length, countedPhrase(partition))}: ${reasonsOf(down)}`;
  }
  const answers = `${positive(check, input.probeResults, up)} ${fromAll(confirmingResults(check, up).length, counted.length, countedPhrase(partition))}${partlyRedirected(check, up)}`;
  if (verdict === 'up') return `${answers}${supplementOf(check, up, findings)}${ofEchoAlone(check, up)}`;
  if (verdict === 'degraded') return `${answers}, but ${limitationOf(check, findings, up)}`;
  const scope = findings.find(({ code }) => code.startsWith('down_'))?.brief ?? countOf(down.length, 'probe');
  return `${answers}, and fails from ${scope}: ${reasonsOf(down)}`;
}
