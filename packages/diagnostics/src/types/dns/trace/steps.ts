import { escapeText, roundMs, type Failure, type ResultFieldsOf, type Target } from '@vantage/contract';
import { rcodeName, type DnsRecord, type Message } from '@vantage/contract/dns-message';

import type { dns } from '../contract.ts';
import { reportRecords, type RecordBudget } from '../records.ts';
import type { Answer } from '../transport/query.ts';
import type { DelegatedServer, Zone } from './zones.ts';

export type Row = NonNullable<ResultFieldsOf<typeof dns>['trace']>[number];

/** Longer names of zones and servers are truncated, so that a result with all rows stays below its limit. */
const MAX_NAME_LENGTH = 256;

/** A server that was asked, or was to be asked. */
export interface Asking {
  readonly zone: Zone;
  readonly server: DelegatedServer;
  readonly target: Target | null;
}

export interface FailedStep extends Asking {
  readonly kind: 'failure';
  readonly answer: Answer | null;
  readonly failure: Failure;
}

export type Step =
  | (Asking & { readonly kind: 'answer'; readonly answer: Answer })
  | (Asking & { readonly kind: 'referral'; readonly answer: Answer; readonly to: Zone })
  | FailedStep;

/** The row of a step in the result. */
export function rowOf(step: Step, budget: RecordBudget): Row {
  const { zone, server, target, answer } = step;
  const message = answer?.message;
  return {
    zone: escapeText(zone.name, MAX_NAME_LENGTH),
    server: escapeText(server.name, MAX_NAME_LENGTH),
    address: target?.address ?? null,
    rt: answer === null ? null : roundMs(answer.queryMs),
    rcode: message === undefined ? null : rcodeName(message.rcode),
    authoritative: message === undefined ? null : message.flags.includes('aa'),
    referral: step.kind === 'referral' ? escapeText(step.to.name, MAX_NAME_LENGTH) : null,
    records: message === undefined ? [] : reportRecords(shownOf(step, message), budget).records,
    error: step.kind === 'failure' ? step.failure : null,
  };
}

/**
 * The records of a step that its row shows: only those of a referral, since the last answer is in the result's own
 * sections.
 */
function shownOf(step: Step, message: Message): readonly DnsRecord[] {
  return step.kind === 'referral' ? message.authority : [];
}
