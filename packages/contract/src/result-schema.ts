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
  const title = `${checkType.title} result`;
  const options = { additionalProperties: false, title, ...onSuccess(checkType) };
  return Type.Object({ ...commonResultFields, ...optional(fields) }, options);
}

function onSuccess({ requiredOnSuccess }: AnyCheckType): Readonly<Record<string, unknown>> {
  return {
    if: { properties: { result: { const: 'success' } }, required: ['result'] },
    then: { required: [...requiredOnSuccess] },
  };
}

/**
 * Builds the schema of what a final result has in addition to a partial one: its outcome, and the fields that are
 * required. A result that fits it is valid if the rest, `withoutFinalFields`, fits `partialResultSchema`.
 */
export function finalFieldsSchema(checkType: AnyCheckType): TSchema {
  const { result, error, finishedAt, stalled: _stalled, ...required } = commonResultFields;
  const others = Object.fromEntries(Object.keys(required).map((name) => [name, Type.Unknown()]));
  return Type.Object({ result, error, finishedAt, ...others }, onSuccess(checkType));
}

/** The fields of a final result that a partial result may have, too. */
export function withoutFinalFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { result: _result, error: _error, finishedAt: _finishedAt, ...rest } = fields;
  return rest;
}

/** Builds the schema of a pending result as a client reads it; no result field is required. */
export function pendingResultSchema(checkType: AnyCheckType): TSchema {
  return Type.Object(
    { result: Type.Literal('pending'), ...optional({ ...partialFields(checkType), ...checkType.added }) },
    { additionalProperties: false, title: `${checkType.title} result, pending` },
  );
}

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
