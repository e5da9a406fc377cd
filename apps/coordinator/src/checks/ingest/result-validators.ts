import { partialResultSchema, resultSchema, type AnyCheckType } from '@vantage/contract';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { compiledAtFirstUse, createAjv } from '../../create-ajv.ts';

export interface ResultValidators {
  readonly final: ValidateFunction;
  readonly partial: ValidateFunction;
}

const compiled = new WeakMap<AnyCheckType, ResultValidators>();
let ajv: ReturnType<typeof openAjv> | undefined;

/** The result schemas of a type, each compiled once, at its first result: the process answers nothing meanwhile. */
export function resultValidators(checkType: AnyCheckType): ResultValidators {
  const known = compiled.get(checkType);
  if (known !== undefined) return known;
  const open = (): ReturnType<typeof openAjv> => (ajv ??= openAjv());
  const final = compiledAtFirstUse(resultSchema(checkType), open);
  const partial = compiledAtFirstUse(partialResultSchema(checkType), open);
  const validators = {
    get final() {
      return final();
    },
    get partial() {
      return partial();
    },
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
