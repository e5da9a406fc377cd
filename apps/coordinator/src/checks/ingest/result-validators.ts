import { partialResultSchema, resultSchema, type AnyCheckType } from '@vantage/contract';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createAjv } from '../../create-ajv.ts';

export interface ResultValidators {
  readonly final: ValidateFunction;
  readonly partial: ValidateFunction;
}

const compiled = new WeakMap<AnyCheckType, ResultValidators>();
let ajv: ReturnType<typeof openAjv> | undefined;

/** Compiles the result schemas of a type once, at its first result. */
export function resultValidators(checkType: AnyCheckType): ResultValidators {
  const known = compiled.get(checkType);
  if (known !== undefined) return known;
  ajv ??= openAjv();
  const validators = {
    final: ajv.compile(resultSchema(checkType)),
    partial: ajv.compile(partialResultSchema(checkType)),
  };
  compiled.set(checkType, validators);
  return validators;
}

function openAjv() {
  // strictRequired rejects the `then` branch of a result schema, which requires properties defined outside of it.
  const opened = createAjv({ strictRequired: false });
  formats.default(opened);
  return opened;
}
