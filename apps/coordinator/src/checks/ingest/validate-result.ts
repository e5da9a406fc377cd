import {
  escapeText,
  MAX_RESULT_BYTES,
  parseEscaped,
  type AnyCheckType,
  type CommonResult,
  type LookUpPlace,
  type FailureCode,
  type ResultKind,
} from '@vantage/contract';
import type { ErrorObject } from 'ajv/dist/2020.js';

import type { Log } from '../../redis/log.ts';
import type { CountedResult } from '../check-metrics.ts';
import { errorResult, isCutShort } from '../store/synthetic-results.ts';
import type { ResultValidators } from './result-validators.ts';

interface FinalAccepted {
  readonly kind: 'final';
  readonly json: string;
  /** True if the probe's partial results may contain more than this final result. */
  readonly isCutShort: boolean;
}

/** Outcome of validating a result. An invalid partial result has no JSON: it is dropped. */
export type Accepted =
  | (FinalAccepted & { readonly valid: true; readonly result: CountedResult })
  | { readonly kind: 'partial'; readonly valid: true; readonly json: string }
  | (FinalAccepted & { readonly valid: false })
  | { readonly kind: 'partial'; readonly valid: false };

export interface AcceptDependencies {
  readonly validatorsOf: (checkType: AnyCheckType) => ResultValidators;
  readonly lookUpPlace: LookUpPlace;
  readonly log: Log;
}

/**
 * Validates a probe's result against the size limit and the schema of its type, and adds locations and networks. An
 * invalid final result becomes an `invalid_result` failure.
 *
 * @param entry with its time, milliseconds since the epoch by the clock of Redis
 */
export function acceptResult(
  { validatorsOf, lookUpPlace, log }: AcceptDependencies,
  checkType: AnyCheckType,
  entry: { readonly kind: ResultKind; readonly data: string; readonly writtenAtMs: number },
): Accepted {
  const { kind, data, writtenAtMs } = entry;
  const validate = validatorsOf(checkType)[kind];
  const refuse = (why: string): Accepted => {
    if (kind === 'partial') return { kind, valid: false };
    const json = JSON.stringify(errorResult('invalid_result', why, writtenAtMs));
    return { kind, valid: false, json, isCutShort: true };
  };

  if (Buffer.byteLength(data) > MAX_RESULT_BYTES) return refuse(`The result is larger than ${MAX_RESULT_BYTES} bytes.`);
  const result = parse(data);
  if (result === undefined) return refuse('The result is not JSON.');
  if (!validate(result)) return refuse(`The result is not valid: ${describe(validate.errors?.[0])}.`);
  const json = JSON.stringify(annotate(checkType, result as CommonResult, lookUpPlace, log));
  if (kind === 'partial') return { kind, valid: true, json };
  const final = result as CommonResult;
  return { kind, valid: true, json, result: countedResult(final), isCutShort: isCutShort(final) };
}

/** Codes with which an agent refuses a target that clients chose. */
const refusals: ReadonlySet<FailureCode> = new Set(['target_refused_by_policy', 'target_rate_limited']);

function countedResult({ result, error }: CommonResult): CountedResult {
  return error !== null && refusals.has(error.code) ? 'refused' : result;
}

/**
 * The address in a result, not yet validated, whose registration will be part of it. Undefined if its type has no such
 * address, or if the result is too large, no JSON object or without the address.
 */
export function registeredAddress(checkType: AnyCheckType, data: string): string | undefined {
  if (checkType.registeredAddress === undefined || Buffer.byteLength(data) > MAX_RESULT_BYTES) return undefined;
  const result = parse(data);
  if (typeof result !== 'object' || result === null) return undefined;
  const address: unknown = checkType.registeredAddress(result);
  return typeof address === 'string' ? address : undefined;
}

/** Adds locations and networks. If that fails, the result is kept without them. */
function annotate(checkType: AnyCheckType, result: CommonResult, lookUpPlace: LookUpPlace, log: Log): unknown {
  try {
    return checkType.annotate?.(result, lookUpPlace) ?? result;
  } catch (error) {
    log.error({ type: checkType.type, error }, 'result could not be annotated');
    return result;
  }
}

/**
 * Parses a result and escapes control characters: agents escape them too, but a program with a stolen login may not.
 * Undefined if it is no JSON.
 */
function parse(data: string): unknown {
  try {
    return parseEscaped(data);
  } catch {
    return undefined;
  }
}

function describe(error: ErrorObject | null | undefined): string {
  return escapeText(`${error?.instancePath ?? ''} ${error?.message ?? 'it breaks the schema'}`.trim(), 200);
}
