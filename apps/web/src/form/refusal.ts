import { ProblemError } from '@vantage/client';

import type { CheckForm } from '../../build/check-forms.ts';
import { faultText } from '../faults.ts';
import { fieldAt } from './values.ts';

/** Why the service did not take a check, as the form shows it. */
export interface Refusal {
  /** Sentences beside a field, by its name. */
  readonly fields: Readonly<Record<string, string>>;
  /** What concerns no one field. */
  readonly general: string | undefined;
  /** When to try again, as milliseconds of `performance.now()`. */
  readonly retryAt: number | undefined;
}

/** @param now milliseconds of `performance.now()` */
export function refusalOf(error: unknown, form: CheckForm, now: number): Refusal {
  if (!(error instanceof ProblemError)) return general(faultText(error));
  const { problem, status, retryAfterSeconds } = error;
  const retryAt = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
  if (typeof problem?.detail !== 'string') {
    return general(faultText(error), retryAt);
  }
  // The policy judges the target; where it does not name another field, the host is what it means.
  const errors = problem.errors ?? [];
  if (errors.length === 0) {
    return status === 403 ? policyRefusal(problem.detail, form) : general(problem.detail, retryAt);
  }
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const { path, message } of errors) {
    const field = fieldAt(form, path);
    if (field === undefined) rest.push(`${path}: ${message}`);
    else fields[field] = fields[field] === undefined ? sentence(message) : `${fields[field]} ${sentence(message)}`;
  }
  return { fields, general: rest.length === 0 ? undefined : rest.join(' '), retryAt };
}

/** The policy says which field it means where it is not the host. */
function policyRefusal(detail: string, form: CheckForm): Refusal {
  const [, pointer, rest] = /^(\/[\w/]+): (.*)$/s.exec(detail) ?? [];
  const field = pointer === undefined ? undefined : fieldAt(form, pointer);
  return { ...general(undefined), fields: field === undefined ? { host: detail } : { [field]: sentence(rest!) } };
}

function general(text: string | undefined, retryAt?: number): Refusal {
  return { fields: {}, general: text, retryAt };
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
