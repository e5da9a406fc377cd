import { ProblemError } from '@vantage/client';

import type { FormDefinition } from '../../build/check-forms.ts';
import { faultText } from '../faults.ts';
import { fieldAt } from './values.ts';

/** A rejected request, prepared for the form. */
export interface FormErrors {
  /** Errors by field name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Error that belongs to no single field. */
  readonly general: string | undefined;
  /** Time of the next permitted attempt, in milliseconds of `performance.now()`; undefined without `Retry-After`. */
  readonly retryAt: number | undefined;
}

/**
 * @param now milliseconds of `performance.now()`
 * @param request the rejected one
 */
export function formErrorsOf(
  error: unknown,
  form: FormDefinition,
  now: number,
  request: Readonly<Record<string, unknown>>,
): FormErrors {
  if (!(error instanceof ProblemError)) return general(faultText(error));
  const { problem, status, retryAfterSeconds } = error;
  const retryAt = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
  if (typeof problem?.detail !== 'string') {
    return general(faultText(error), retryAt);
  }
  // A refusal by the target policy has no list of errors.
  const errors = problem.errors ?? [];
  if (errors.length === 0) {
    // Without locations all probes were considered, so that no field is at fault.
    const isOfLocations = problem.type.endsWith('/no-probe-available') && request['locations'] !== undefined;
    if (isOfLocations) return { ...general(undefined), fields: { locations: problem.detail } };
    const isPolicy = status === 403 && !problem.type.endsWith('/scope-missing');
    return isPolicy ? policyRefusal(problem.detail, form) : general(problem.detail, retryAt);
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

/**
 * Assigns a refusal by the target policy to the field whose pointer begins the text; to the host if there is no pointer
 * or the form does not show that field.
 */
function policyRefusal(detail: string, form: FormDefinition): FormErrors {
  const [, pointer, rest] = /^(\/[\w/]+): (.*)$/s.exec(detail) ?? [];
  const field = pointer === undefined ? undefined : fieldAt(form, pointer);
  return { ...general(undefined), fields: field === undefined ? { host: detail } : { [field]: sentence(rest!) } };
}

function general(text: string | undefined, retryAt?: number): FormErrors {
  return { fields: {}, general: text, retryAt };
}

/**
 * Makes a message a sentence. A first word with digits or signs is a name, such as that of a probe, and keeps its case.
 */
function sentence(message: string): string {
  const text = /^[a-z]+[\s,;:.]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
