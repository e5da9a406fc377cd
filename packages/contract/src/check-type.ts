import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox';

import type { LookUpPlace } from './place.ts';
import { commonResultFields, outcomes } from './result.ts';
import type { ScreenshotParams } from './screenshot.ts';
import type { TargetPurpose } from './target.ts';
import type { Traffic } from './traffic.ts';
import { probeIdSchema } from './words.ts';

/**
 * All that is said about one check type outside of the code that runs it. Request validation, the job's schema, the
 * check of results, OpenAPI, documentation, form and flags are made from it.
 */
export interface CheckType<
  Name extends string = string,
  Fields extends TProperties = TProperties,
  Options extends TProperties = TProperties,
  Result extends TProperties = TProperties,
  Added extends TProperties = TProperties,
> {
  readonly type: Name;
  readonly title: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** What the `host` of the request is: a host name or address, an absolute http(s) URL, or a DNS name to ask for. */
  readonly hostKind: 'host' | 'url' | 'name';
  readonly purpose: TargetPurpose;
  /**
   * Fields of the request beside `host` and `options` that apply to this type, each with its schema. A field with a
   * `default` may be left out by the caller; one without is required. Fields of other types are ignored.
   */
  readonly fields: Fields;
  /** Options; those with a `default` may be left out, as may those made optional. */
  readonly options: Options;
  /** Fields of the result beyond the common ones, each described with its unit. All are made optional. */
  readonly result: Result;
  /** Fields that the service itself adds when a result is read; a probe that sends one breaks the schema. */
  readonly added?: Added | undefined;
  /** Fields of `result` that a `success` always carries. */
  readonly requiredOnSuccess: readonly (keyof Result & string)[];
  /** True where the probe needs raw sockets. */
  readonly needsRawSockets: boolean;
  /** What the one screenshot of the check is to show; undefined where the caller wants none. */
  readonly screenshot?: (params: Params<Fields, Options>) => ScreenshotParams | undefined;
  /** Time a probe may take for its result, in milliseconds, from the creation of the check. */
  readonly budgetMs: (params: Params<Fields, Options>) => number;
  /** What one run exchanges with its target at most; every limit counts by it. Without the screenshot. */
  readonly traffic: (params: Params<Fields, Options>) => Traffic;
  /** Rules that a schema cannot say; each broken one as a JSON pointer into the request and a sentence. */
  readonly inputErrors?: (params: Params<Fields, Options>) => readonly InputError[];
  /** What the caller chose to contact beside `host`, such as a resolver: the policy judges it too, before there is a job. */
  readonly otherTargets?: (params: Params<Fields, Options>) => readonly OtherTarget[];
  /** The address of a result whose registration the coordinator may look up before `annotate`, which cannot wait. */
  readonly registeredAddress?: (result: ResultFields<Result>) => string | undefined;
  /** Adds places and networks to a result; runs in the coordinator, never in a probe. */
  readonly annotate?: (result: ResultFields<Result>, lookUp: LookUpPlace) => ResultFields<Result>;
}

export interface OtherTarget {
  /** JSON pointer to the field that names it. */
  readonly path: string;
  /** Host name or address literal. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly purpose: TargetPurpose;
}

export interface InputError {
  /** JSON pointer into the request body. */
  readonly path: string;
  readonly message: string;
}

/** What a diagnostic is given: the canonical host, the fields of its type, and its options with the defaults filled in. */
export type Params<Fields extends TProperties, Options extends TProperties> = { readonly host: string } & Static<
  TObject<Fields>
> & { readonly options: Static<TObject<Options>> };

export type ResultFields<Result extends TProperties> = Partial<Static<TObject<Result>>>;

// oxlint-disable-next-line typescript/no-explicit-any -- a type parameter in argument position accepts no narrower bound
export type AnyCheckType = CheckType<string, any, any, any, any>;

export type ParamsOf<C extends AnyCheckType> = Params<C['fields'], C['options']>;

export type ResultFieldsOf<C extends AnyCheckType> = ResultFields<C['result']>;

/** With what the service adds: what a caller reads. */
export type ShownFieldsOf<C extends AnyCheckType> = ResultFieldsOf<C> & ResultFields<NonNullable<C['added']>>;

/** Keeps the literal types of a contract; does nothing else. */
export function defineCheckType<
  const Name extends string,
  Fields extends TProperties,
  Options extends TProperties,
  Result extends TProperties,
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- a type without such fields adds none
  Added extends TProperties = Record<never, never>,
>(checkType: CheckType<Name, Fields, Options, Result, Added>): CheckType<Name, Fields, Options, Result, Added> {
  return checkType;
}

/** Fields of a request that choose probes; they never reach a probe. */
export const selectionFields = {
  probes: Type.Optional(
    Type.Array(probeIdSchema, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Exactly these probes. Not together with `locations`.',
    }),
  ),
  locations: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 10,
      description:
        'Where the probes shall be: country code or name, city, continent, AS<digits>, network or datacenter name, ' +
        'or tag; terms joined by `+` must all hold. A name that means nothing here is refused with the nearest one.',
      examples: [['de+AS3320', 'Japan']],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 10,
      description: 'How many probes to pick when `probes` is absent.',
    }),
  ),
};

const hostDescriptions = {
  host: 'Host name or address literal, at most 253 characters after IDNA to-ASCII.',
  url: 'Absolute http(s) URL without credentials, at most 2,048 characters.',
  name: 'DNS name to ask for; `.`, top-level domains and names under in-addr.arpa and ip6.arpa are allowed.',
};

/**
 * The schema of a request of one type.
 *
 * @param known every request field of any type; those that are not this type's are accepted and ignored
 */
export function requestSchema(checkType: AnyCheckType, known: readonly string[]): TSchema {
  const ignored = known.filter((field) => !(field in checkType.fields));
  return Type.Object(
    {
      type: Type.Literal(checkType.type),
      host: Type.String({
        minLength: 1,
        maxLength: 2048,
        description: hostDescriptions[checkType.hostKind],
      }),
      ...callerOptional(checkType.fields),
      ...Object.fromEntries(
        ignored.map((field) => [field, Type.Optional(Type.Unknown({ description: `Ignored by ${checkType.type}.` }))]),
      ),
      ...selectionFields,
      options: Type.Optional(
        Type.Object(callerOptional(checkType.options), {
          additionalProperties: false,
          default: {},
          description: `Options of a ${checkType.type} check.`,
        }),
      ),
    },
    { additionalProperties: false, title: `${checkType.title} check`, description: checkType.summary },
  );
}

/** The schema of the parameters of a diagnostic, as a job carries them. Later releases may add fields to a job. */
export function paramsSchema(checkType: AnyCheckType): TSchema {
  return Type.Object({
    host: Type.String({ minLength: 1, maxLength: 2048 }),
    ...checkType.fields,
    options: Type.Object(checkType.options),
  });
}

/** The schema of a final result of one type as an agent reports it. */
export function resultSchema(checkType: AnyCheckType): TSchema {
  return finalSchema(checkType, checkType.result);
}

/** The schema of a final result of one type as a caller reads it. */
export function shownResultSchema(checkType: AnyCheckType): TSchema {
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

/** The schema of what a caller reads of a probe that has not answered: any of the fields, none required. */
export function pendingResultSchema(checkType: AnyCheckType): TSchema {
  return Type.Object(
    { result: Type.Literal('pending'), ...optional({ ...partialFields(checkType), ...checkType.added }) },
    { additionalProperties: false, title: `${checkType.title} result, pending` },
  );
}

/** The fields that a partial result may carry. */
export function partialResultSchema(checkType: AnyCheckType): TSchema {
  return Type.Object(optional(partialFields(checkType)), { additionalProperties: false });
}

function partialFields(checkType: AnyCheckType): TProperties {
  const { result: _result, error: _error, finishedAt: _finishedAt, ...common } = commonResultFields;
  return { ...common, ...checkType.result };
}

function callerOptional(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, 'default' in schema ? Type.Optional(schema) : schema]),
  );
}

function optional(fields: TProperties): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
}

/** The final words of a result, for a reader who needs to tell a final result from a pending one. */
export function isFinal(result: { readonly result?: unknown }): boolean {
  return outcomes.some((word) => word === result.result);
}
