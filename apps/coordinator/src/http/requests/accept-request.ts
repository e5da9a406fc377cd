import type { AnyCheckType, Family, OtherTarget, TargetPurpose } from '@vantage/contract';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { HttpProblem } from '../problem.ts';
import { createRequestValidator, invalid, type RequestBody } from './validate-request.ts';

/**
 * Canonicalises a target and applies the target policy to its form, address, name and port; never resolves a name.
 *
 * @param allow additional networks of the request's key
 */
export type JudgeTarget = (target: JudgedTarget, allow?: readonly string[]) => Judgement;

export interface JudgedTarget {
  readonly hostKind: AnyCheckType['hostKind'];
  readonly purpose: TargetPurpose;
  /** The host as the client wrote it. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly family?: Family | undefined;
}

export type Judgement =
  | { readonly verdict: 'accepted'; /** Canonical. */ readonly host: string }
  /** The target is malformed, as the message explains. */
  | { readonly verdict: 'malformed'; readonly message: string }
  /** The target is well-formed but refused by a rule, which the message names. */
  | { readonly verdict: 'refused'; readonly message: string };

/**
 * Creates the function that turns a JSON body into a request. It applies, in this order, the schema of the type, the
 * syntax of the host, the type's rules beyond its schema, and the target policy.
 *
 * @returns a function that throws HttpProblem 400 or 403
 */
export function createRequestReader(checkTypes: readonly AnyCheckType[], judgeTarget: JudgeTarget): RequestReader {
  const validate = createRequestValidator(checkTypes);
  return (json, allow) => {
    const judge = (target: JudgedTarget): Judgement => judgeTarget(target, allow);
    const { checkType, body } = validate(json);
    const fields = fieldsOf(checkType, body);
    const judgement = judge(judgedTarget(checkType, body, fields));
    if (judgement.verdict === 'malformed') throw invalid([{ path: '/host', message: judgement.message }]);
    const host = judgement.verdict === 'accepted' ? judgement.host : body.host;
    const params = { ...fields, host, options: body.options };
    const errors = checkType.inputErrors?.(params) ?? [];
    if (errors.length > 0) throw invalid(errors);
    if (judgement.verdict === 'refused') throw new HttpProblem('target-refused', judgement.message);
    for (const other of checkType.otherTargets?.(params) ?? []) judgeOther(other, judge);
    return {
      checkType,
      submittedHost: body.host,
      params,
      probes: body.probes,
      locations: body.locations,
      limit: body.limit,
    };
  };
}

/** @param allow additional networks of the request's key */
export type RequestReader = (body: unknown, allow?: readonly string[]) => AcceptedRequest;

/**
 * Applies the target policy to a further host, such as a resolver. Its text is kept, and the agent applies the policy
 * again.
 */
function judgeOther({ path, host, port, purpose }: OtherTarget, judge: (target: JudgedTarget) => Judgement): void {
  const judgement = judge({ hostKind: 'host', purpose, host, port });
  if (judgement.verdict === 'malformed') throw invalid([{ path, message: judgement.message }]);
  if (judgement.verdict === 'refused') throw new HttpProblem('target-refused', `${path}: ${judgement.message}`);
}

/** Selects the fields of the type; those of other types are accepted and ignored. */
function fieldsOf(checkType: AnyCheckType, body: RequestBody): Readonly<Record<string, unknown>> {
  const names = Object.keys(checkType.fields as object).filter((name) => Object.hasOwn(body, name));
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}

function judgedTarget(
  { hostKind, purpose }: AnyCheckType,
  { host, options }: RequestBody,
  { port }: Readonly<Record<string, unknown>>,
): JudgedTarget {
  const { family } = options;
  return {
    hostKind,
    purpose,
    host,
    port: typeof port === 'number' ? port : undefined,
    family: family === 4 || family === 6 ? family : undefined,
  };
}
