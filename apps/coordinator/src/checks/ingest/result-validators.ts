import { partialResultSchema, resultSchema, type AnyCheckType } from '@vantage/contract';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createAjv } from '../../create-ajv.ts';

export interface ResultValidators {
  readonly final: ValidateFunction;
  readonly partial: ValidateFunction;
}

/** Compiles the result schemas of a type once, at its first result. */
export function createResultValidators(): (checkType: AnyCheckType) => ResultValidators {
  // strictRequired rejects the `then` branch of a result schema, which requires properties defined outside of it.
  const ajv = createAjv({ strictRequired: false });
  formats.default(ajv);
  const compiled = new Map<string, ResultValidators>();

  return (checkType) => {
    const known = compiled.get(checkType.type);
    if (known !== undefined) return known;
    const validators = {
      final: ajv.compile(resultSchema(checkType)),
      partial: ajv.compile(partialResultSchema(checkType)),
    };
    compiled.set(checkType.type, validators);
    return validators;
  };
}
