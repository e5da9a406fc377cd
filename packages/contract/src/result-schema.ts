import type { AnyCheckType } from './check-type.ts';
import { commonResultFields, outcomes } from './result.ts';
import { Type, type TProperties, type TSchema } from './type.ts';

/** Builds the schema of a final result as an agent reports it. */
export function resultSchema(checkType: AnyCheckType): TSchema {
  return finalSchema(checkType, checkType.result);
}

/** Builds the schema of a final result as a client reads it. */
export function publicResultSchema(checkType: AnyCheckType): TSchema {
  return finalSchema(checkType, { ...checkType.result, ...checkType.added });
}

function finalSchema(checkType: AnyCheckType, fields: TProperties): TSchema {
  return Type.Object(
    { ...commonResultFields, ...optional(fields) },
    {
      additionalProperties: false,
      title: `${checkType.title} result`,
      if: { properties: { result: { const: 'success' } }, required: ['result'] },
      then: { required: [...checkType.requiredOnSuccess] },
    },
  );
}

/** Builds the schema of a pending result as a client reads it; no result field is required. */
export function pendingResultSchema(checkType: AnyCheckType): TSchema {
  return Type.Object(
    { result: Type.Literal('pending'), ...optional({ ...partialFields(checkType), ...checkType.added }) },
    { additionalProperties: false, title: `${checkType.title} result, pending` },
  );
}

/** Builds the schema of a partial result. */
export function partialResultSchema(checkType: AnyCheckType): TSchema {
  return Type.Object(optional(partialFields(checkType)), { additionalProperties: false });
}

function partialFields(checkType: AnyCheckType): TProperties {
  const { result: _result, error: _error, finishedAt: _finishedAt, ...common } = commonResultFields;
  return { ...common, ...checkType.result };
}

function optional(fields: TProperties): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
}

/** True for a final result, false for a pending one. */
export function isFinal(result: { readonly result?: unknown }): boolean {
  return outcomes.some((word) => word === result.result);
}
