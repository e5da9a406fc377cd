import {
  commonRequestSchema,
  requestSchema,
  type AnyCheckType,
  type FieldPaths,
  type InputError,
} from '@vantage/contract';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { oncePer } from '../once-per.ts';
import { HttpProblem } from '../problem.ts';
import { boundedErrors, brokenFields, inputErrors, choiceText } from './input-errors.ts';
import { createAjv } from '../../create-ajv.ts';

/** A request body as read by the schema of its type, with defaults filled in; its faults are listed. */
export interface ReadBody {
  readonly checkType: AnyCheckType;
  readonly body: RequestBody;
  /** Faults of the body's fields. */
  readonly errors: readonly InputError[];
  /** The fields with faults, and an absent host: their values must not be read. */
  readonly broken: FieldPaths;
}

export interface RequestBody {
  readonly type: string;
  /** Host of the request; absent with `between`. */
  readonly host: string;
  readonly between?: readonly [string, string];
  readonly options: Readonly<Record<string, unknown>>;
  readonly probes?: readonly string[];
  readonly locations?: readonly string[];
  readonly limit: number;
  readonly [field: string]: unknown;
}

/** Without a known type, `checkType` is absent, and at most the fields that all types have were validated. */
export type BodyReading = ReadBody | { readonly checkType?: undefined; readonly errors: readonly InputError[] };

/** @returns a function that reads a body by the schema of its type, fills in defaults, and reports every fault */
export function createBodyReader(checkTypes: readonly AnyCheckType[]): (body: unknown) => BodyReading {
  const { types, anyType } = compiled(checkTypes);
  const pairTypes = checkTypes.flatMap(({ type, takesPairs }) => (takesPairs === true ? type : []));
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { errors: [{ path: '', message: 'must be an object' }] };
    }
    const type: unknown = Object.hasOwn(body, 'type') ? (body as { readonly type?: unknown }).type : undefined;
    const found = typeof type === 'string' ? types.get(type) : undefined;
    const validate = found === undefined ? anyType() : found.validate();
    // Checked first: validation fills in defaults, which the client did not send.
    const ofTarget = found?.checkType.takesPairs === true ? targetFaults(body) : [];
    const faults = [
      ...(found === undefined
        ? [typeFault(type, [...types.keys()], Object.hasOwn(body, 'between') ? pairTypes : undefined)]
        : []),
      ...pairFaults(body, validate(body) ? [] : inputErrors(validate.errors ?? []), found?.checkType, pairTypes),
      ...choiceFaults(body),
      ...ofTarget,
    ];
    if (found === undefined) return { errors: faults };
    const { checkType } = found;
    const broken = new Set([...brokenFields(faults), ...(Object.hasOwn(body, 'host') ? [] : ['/host'])]);
    return { checkType, body: body as RequestBody, errors: faults, broken };
  };
}

/** @param pairTypes types that the body can have because of its `between`; undefined without it */
function typeFault(type: unknown, types: readonly string[], pairTypes: readonly string[] | undefined): InputError {
  const known = pairTypes === undefined ? choiceText(types, type) : `${pairTypes.join(' or ')}, with \`between\``;
  return { path: '/type', message: `${type === undefined ? 'is required:' : 'must be'} ${known}` };
}

/**
 * Returns the faults of the schema. For a body with `between` whose type takes no pairs, leaves out those of `between`
 * and of a missing `host`, and adds, if the type is known, that it takes no `between`.
 */
function pairFaults(
  body: object,
  faults: readonly InputError[],
  checkType: AnyCheckType | undefined,
  pairTypes: readonly string[],
): readonly InputError[] {
  if (!Object.hasOwn(body, 'between') || checkType?.takesPairs === true) return faults;
  const others = faults.filter(({ path }) => path !== '/between' && (path !== '/host' || Object.hasOwn(body, 'host')));
  if (checkType === undefined) return others;
  return [...others, { path: '/between', message: `is of ${pairTypes.join(', ')} only, not of ${checkType.type}` }];
}

function choiceFaults({ probes, locations }: Partial<RequestBody>): readonly InputError[] {
  if (probes === undefined || locations === undefined) return [];
  return [{ path: '/locations', message: 'cannot be combined with `probes`: choose one of the two' }];
}

/** Fields that `between` replaces: it names probes and targets. */
const replaced = ['host', 'probes', 'locations', 'limit'] as const;

function targetFaults(body: object): readonly InputError[] {
  if (!Object.hasOwn(body, 'between')) {
    return Object.hasOwn(body, 'host') ? [] : [{ path: '/host', message: 'is required, unless there is `between`' }];
  }
  return replaced
    .filter((field) => Object.hasOwn(body, field))
    .map((field) => ({ path: `/${field}`, message: 'cannot be combined with `between`' }));
}

interface CompiledType {
  readonly checkType: AnyCheckType;
  readonly validate: () => ValidateFunction;
}

/** Each validator is compiled at its first use, because compiling all would delay the start of every coordinator. */
interface Compiled {
  readonly types: ReadonlyMap<string, CompiledType>;
  /** Validates the fields that all types have. */
  readonly anyType: () => ValidateFunction;
}

const compiled = oncePer((checkTypes: readonly AnyCheckType[]): Compiled => {
  const known = [...new Set(checkTypes.flatMap(({ fields }) => Object.keys(fields as object)))].toSorted();
  // Strict mode detects misspelled keywords. No coercion: "80" is not a port.
  const ajv = createAjv({ strictRequired: false, allErrors: true, verbose: true, useDefaults: true });
  addFormats.default(ajv);
  const compileOnce = (schema: () => AnySchema): (() => ValidateFunction) => {
    let validate: ValidateFunction | undefined;
    return () => (validate ??= ajv.compile(schema()));
  };
  return {
    types: new Map(
      checkTypes.map((checkType) => [
        checkType.type,
        { checkType, validate: compileOnce(() => requestSchema(checkType, known)) },
      ]),
    ),
    anyType: compileOnce(() => commonRequestSchema),
  };
});

/** @param errors never empty */
export function invalid(errors: readonly InputError[]): HttpProblem {
  const [first] = errors;
  // The path of a header ends with a colon.
  const field = first?.path.replace(/:$/, '');
  const detail = [field, first?.message].filter((part) => part !== undefined && part !== '').join(': ');
  return new HttpProblem('invalid-request', detail, { errors: boundedErrors(errors) });
}
