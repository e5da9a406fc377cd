import type { AnyCheckType, Family, OtherTarget, TargetPurpose } from '@vantage/contract';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { HttpProblem } from '../problem.ts';
import { createRequestValidator, invalid, type RequestBody } from './validate-request.ts';

/**
 * The target policy as the HTTP edge asks it: the one way to write a target, and whether it may be measured. Judges form,
 * literals, names and ports; never resolves a name.
 *
 * @param allow networks that the key of the request may have measured besides
 */
export type JudgeTarget = (target: JudgedTarget, allow?: readonly string[]) => Judgement;

export interface JudgedTarget {
  readonly hostKind: AnyCheckType['hostKind'];
  readonly purpose: TargetPurpose;
  /** As the caller wrote it. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly family?: Family | undefined;
}

export type Judgement =
  | { readonly verdict: 'accepted'; /** Canonical. */ readonly host: string }
  /** The form is odd, as the sentence says. */
  | { readonly verdict: 'malformed'; readonly message: string }
  /** The form is in order and a rule, which the sentence names, refuses the target. */
  | { readonly verdict: 'refused'; readonly message: string };

/**
 * Makes the function that turns a JSON body into what is measured. In this order: the schema of the type, the form of
 * the host, the rules of the type that a schema cannot say, the target policy.
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

/** @param allow networks that the key of the request may have measured besides */
export type RequestReader = (body: unknown, allow?: readonly string[]) => AcceptedRequest;

/** A resolver, say: refused as the target itself would be. What is measured keeps its text; the agent admits it again. */
function judgeOther({ path, host, port, purpose }: OtherTarget, judge: (target: JudgedTarget) => Judgement): void {
  const judgement = judge({ hostKind: 'host', purpose, host, port });
  if (judgement.verdict === 'malformed') throw invalid([{ path, message: judgement.message }]);
  if (judgement.verdict === 'refused') throw new HttpProblem('target-refused', `${path}: ${judgement.message}`);
}

/** The fields of the type alone: those of other types are accepted and ignored. */
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
