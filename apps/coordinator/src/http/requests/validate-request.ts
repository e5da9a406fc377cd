import { requestSchema, type AnyCheckType, type InputError } from '@vantage/contract';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { oncePer } from '../once-per.ts';
import { HttpProblem } from '../problem.ts';
import { inputErrors } from './input-errors.ts';
import { createAjv } from '../../create-ajv.ts';

/** A valid request body with defaults. */
export interface ValidRequest {
  readonly checkType: AnyCheckType;
  readonly body: RequestBody;
}

export interface RequestBody {
  readonly type: string;
  readonly host: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly probes?: readonly string[];
  readonly locations?: readonly string[];
  readonly limit: number;
  readonly [field: string]: unknown;
}

/** @returns a function that throws HttpProblem 400 for an invalid body */
export function createRequestValidator(checkTypes: readonly AnyCheckType[]): (body: unknown) => ValidRequest {
  const types = compiled(checkTypes);
  return (body) => {
    const { checkType, validate } = typeOf(body, types);
    if (!validate(body)) throw invalid(inputErrors(validate.errors ?? []));
    const valid = body as RequestBody;
    if (valid.probes !== undefined && valid.locations !== undefined) {
      throw invalid([{ path: '/locations', message: 'cannot be combined with `probes`: choose one of the two' }]);
    }
    return { checkType, body: valid };
  };
}

interface CompiledType {
  readonly checkType: AnyCheckType;
  readonly validate: ValidateFunction;
}

/** Compiled request schemas by check type. */
const compiled = oncePer((checkTypes: readonly AnyCheckType[]): ReadonlyMap<string, CompiledType> => {
  const known = [...new Set(checkTypes.flatMap(({ fields }) => Object.keys(fields as object)))].toSorted();
  // Strict mode detects misspelled keywords. No coercion: "80" is not a port.
  const ajv = createAjv({ strictRequired: false, allErrors: true, verbose: true, useDefaults: true });
  addFormats.default(ajv);
  return new Map(
    checkTypes.map((checkType) => [
      checkType.type,
      { checkType, validate: ajv.compile(requestSchema(checkType, known)) },
    ]),
  );
});

function typeOf<T>(body: unknown, types: ReadonlyMap<string, T>): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid([{ path: '', message: 'must be an object' }]);
  }
  const type: unknown = Object.hasOwn(body, 'type') ? (body as { readonly type?: unknown }).type : undefined;
  const found = typeof type === 'string' ? types.get(type) : undefined;
  if (found !== undefined) return found;
  const known = [...types.keys()].join(', ');
  const message = type === undefined ? `is required: one of ${known}` : `must be one of ${known}`;
  throw invalid([{ path: '/type', message }]);
}

/** @param errors never empty */
export function invalid(errors: readonly InputError[]): HttpProblem {
  const [first] = errors;
  const detail = [first?.path, first?.message].filter((part) => part !== undefined && part !== '').join(': ');
  return new HttpProblem('invalid-request', detail, { errors });
}
