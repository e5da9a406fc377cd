import {
  otherTargetsOf,
  ruleErrors,
  type AnyCheckType,
  type Family,
  type FieldPaths,
  type InputError,
  type OtherTarget,
  type TargetPurpose,
} from '@vantage/contract';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { HttpProblem } from '../problem.ts';
import { createBodyReader, invalid, type ReadBody, type RequestBody } from './validate-request.ts';

/**
 * Canonicalises a target and applies the target policy to its form, address, name and port; never resolves a name.
 *
 * @param allow additional networks that an API key permits
 */
export type EvaluateTarget = (target: RequestTarget, allow?: readonly string[]) => RequestTargetDecision;

export interface RequestTarget {
  readonly hostKind: AnyCheckType['hostKind'];
  readonly purpose: TargetPurpose;
  /** The host as the client wrote it. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly family?: Family | undefined;
}

export type RequestTargetDecision =
  | { readonly verdict: 'accepted'; /** Canonical. */ readonly host: string }
  /** The target is malformed, as the message explains. */
  | { readonly verdict: 'malformed'; readonly message: string }
  /** The target is well-formed but refused by a rule, which the message names. */
  | { readonly verdict: 'refused'; readonly message: string };

/** A request after all validation that needs no Redis. */
export interface ValidatedRequest {
  /** Undefined if there are errors or refusals. */
  readonly accepted: AcceptedRequest | undefined;
  /** Faults of fields, by pointers into the body. */
  readonly errors: readonly InputError[];
  /** Targets that the policy refuses, by the fields that name them. */
  readonly refusals: readonly InputError[];
  /** Undefined if the type is unknown. */
  readonly checkType: AnyCheckType | undefined;
  /**
   * Canonical, or as submitted if the policy refuses it; undefined if it is absent or malformed, or the type unknown.
   */
  readonly host: string | undefined;
}

/** @param allow additional networks that an API key permits */
export type ValidateRequest = (body: unknown, allow?: readonly string[]) => ValidatedRequest;

/** @param allow additional networks of the request's key */
export type RequestReader = (body: unknown, allow?: readonly string[]) => AcceptedRequest;

/**
 * Creates the function that turns a JSON body into a request. It applies the schema of the type, the syntax of the
 * host, the type's rules beyond its schema, and the target policy, and reports all their faults. Rules that read a
 * field without a valid value are skipped.
 */
export function createRequestValidator(
  checkTypes: readonly AnyCheckType[],
  evaluateTarget: EvaluateTarget,
): ValidateRequest {
  const readBody = createBodyReader(checkTypes);
  return (json, allow) => {
    const reading = readBody(json);
    if (reading.checkType === undefined) {
      return { accepted: undefined, errors: reading.errors, refusals: [], checkType: undefined, host: undefined };
    }
    return validateBody(reading, (target) => evaluateTarget(target, allow));
  };
}

/**
 * @returns a function that throws HttpProblem 400 for faults of the request, and 403 if only its targets are refused
 */
export function requestReaderOf(validateRequest: ValidateRequest): RequestReader {
  return (json, allow) => {
    const { accepted, errors, refusals } = validateRequest(json, allow);
    if (accepted !== undefined) return accepted;
    if (errors.length > 0) throw invalid([...errors, ...refusals]);
    const { path, message } = refusals[0]!;
    throw new HttpProblem('target-refused', path === HOST ? message : `${path}: ${message}`);
  };
}

const HOST = '/host';

function validateBody({ checkType, body, errors: faults, broken }: ReadBody, evaluate: Evaluate): ValidatedRequest {
  const fields = fieldsOf(checkType, body);
  if (checkType.takesPairs === true && body.between !== undefined) {
    return validatePair({ checkType, body, errors: faults, broken }, fields);
  }
  const decision = broken.has(HOST) ? undefined : evaluate(requestTargetOf(checkType, body, fields, broken));
  const isMalformed = decision?.verdict === 'malformed';
  const unread = isMalformed ? new Set([...broken, HOST]) : broken;
  const host = decision?.verdict === 'accepted' ? decision.host : body.host;
  const params = { ...fields, host, options: body.options };
  const ruled = ruleErrors(checkType, params, unread);
  const errors = [...faults, ...(isMalformed ? [{ path: HOST, message: decision.message }] : []), ...ruled];
  const isRefused = decision?.verdict === 'refused';
  const others = otherTargetsOf(checkType, params, unread)
    // Skips targets that have an error already, and the host if it was refused.
    .filter((other) => !ruled.some(({ path }) => path === other.path) && !(isRefused && other.host === host))
    .map((other) => ({ other, decision: evaluate(otherTarget(other)) }));
  errors.push(...messages(others, 'malformed'));
  const refusals = [...(isRefused ? [{ path: HOST, message: decision.message }] : []), ...messages(others, 'refused')];
  const isAccepted = errors.length === 0 && refusals.length === 0;
  return {
    errors,
    refusals,
    checkType,
    host: unread.has(HOST) ? undefined : host,
    accepted: isAccepted ? acceptedOf(checkType, body, params) : undefined,
  };
}

/**
 * Reads a request `between` two probes. `resolve-pair.ts` finds their addresses and applies the target policy to them.
 */
function validatePair(
  { checkType, body, errors: faults, broken }: ReadBody,
  fields: Readonly<Record<string, unknown>>,
): ValidatedRequest {
  const { between, options, limit } = body;
  const params = { ...fields, host: '', options };
  const isBoth = !broken.has('/options') && options['family'] === 'both';
  const message = 'must be 4 or 6, or absent, with `between`: each probe traces to one address';
  const errors = [
    ...faults,
    ...(isBoth ? [{ path: '/options/family', message }] : []),
    ...ruleErrors(checkType, params, new Set([...broken, HOST])),
  ];
  const unjudged = { errors, refusals: [], checkType, host: undefined };
  if (errors.length > 0) return { ...unjudged, accepted: undefined };
  const submittedHost = between!.join(' ↔ ');
  return { ...unjudged, accepted: { checkType, submittedHost, params, probes: between, between, limit } };
}

type Evaluate = (target: RequestTarget) => RequestTargetDecision;

interface EvaluatedOther {
  readonly other: OtherTarget;
  readonly decision: RequestTargetDecision;
}

function messages(others: readonly EvaluatedOther[], verdict: 'malformed' | 'refused'): readonly InputError[] {
  return others.flatMap(({ other: { path }, decision }) =>
    decision.verdict === verdict ? [{ path, message: decision.message }] : [],
  );
}

/** A further host that the check contacts, such as a resolver. */
function otherTarget({ host, port, purpose }: OtherTarget): RequestTarget {
  return { hostKind: 'host', purpose, host, port };
}

function acceptedOf(checkType: AnyCheckType, body: RequestBody, params: AcceptedRequest['params']): AcceptedRequest {
  const { probes, locations, limit } = body;
  return { checkType, submittedHost: body.host, params, probes, locations, limit };
}

/** Selects the fields of the type; those of other types are accepted and ignored. */
function fieldsOf(checkType: AnyCheckType, body: RequestBody): Readonly<Record<string, unknown>> {
  const names = Object.keys(checkType.fields as object).filter((name) => Object.hasOwn(body, name));
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}

/** Port for the target policy if the submitted one is invalid, which is already reported as an error. */
const ANY_PORT = 443;

function requestTargetOf(
  { hostKind, purpose }: AnyCheckType,
  { host, options }: RequestBody,
  { port }: Readonly<Record<string, unknown>>,
  broken: FieldPaths,
): RequestTarget {
  // The `family` option of a dns check is that of its resolver.
  const isUnread = hostKind === 'name' || broken.has('/options') || broken.has('/options/family');
  const family = isUnread ? undefined : options['family'];
  return {
    hostKind,
    purpose,
    host,
    port: broken.has('/port') ? ANY_PORT : typeof port === 'number' ? port : undefined,
    family: family === 4 || family === 6 ? family : undefined,
  };
}
