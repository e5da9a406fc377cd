import type { LookUpPlace } from './place.ts';
import { commonResultFields, outcomes } from './result.ts';
import type { ScreenshotParams } from './screenshot.ts';
import type { TargetPurpose } from './target.ts';
import type { Traffic } from './traffic.ts';
import { probeIdSchema } from './formats.ts';
import { Type, type Static, type TObject, type TProperties, type TSchema } from './type.ts';

/**
 * Declares a check type. Request validation, job schema, result validation, OpenAPI, documentation, web form and CLI
 * flags are derived from it; the code that runs it is elsewhere.
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
  /** Meaning of the request's `host`: a host name or address, an absolute http(s) URL, or a DNS name to query. */
  readonly hostKind: 'host' | 'url' | 'name';
  readonly purpose: TargetPurpose;
  /**
   * Request fields of this type besides `host` and `options`. A field with a `default` is optional for the client.
   * Fields of other types are ignored.
   */
  readonly fields: Fields;
  /** Options of the type. Those with a `default`, or declared optional, may be omitted. */
  readonly options: Options;
  /**
   * Parameters that only modules of the operator set, in `params.rules` of a job; no client can. Agents of earlier releases
   * ignore them.
   */
  readonly rules?: TProperties | undefined;
  /** Result fields besides the common ones, each described with its unit. All become optional. */
  readonly result: Result;
  /** Fields that the coordinator adds when a result is read; a probe that sends one fails validation. */
  readonly added?: Added | undefined;
  /** Fields of `result` that every `success` carries. */
  readonly requiredOnSuccess: readonly (keyof Result & string)[];
  /** True if a request may name two probes, `between`, instead of a host: each measures the other. */
  readonly takesPairs?: boolean;
  /** True if the probe needs raw sockets. */
  readonly needsRawSockets: boolean;
  /** Parameters of the check's single screenshot; undefined if the client requested none. */
  readonly screenshot?: (params: Params<Fields, Options>) => ScreenshotParams | undefined;
  /** Time from the creation of the check within which a probe must report, in milliseconds. */
  readonly budgetMs: (params: Params<Fields, Options>) => number;
  /** Upper bound of the traffic of one run, the screenshot excluded. All limits are computed from it. */
  readonly traffic: (params: Params<Fields, Options>) => Traffic;
  /**
   * Rules that a schema cannot express, applied by `ruleErrors`. Each reads only the fields that it is about, because one that
   * reads a field without a valid value is left out.
   */
  readonly inputRules?: readonly ((params: Params<Fields, Options>) => readonly InputError[])[];
  /**
   * Parameters as jobs carry them, if agents of earlier releases would reject those of the request; null if they do not.
   * Agents ignore options that they do not know.
   */
  readonly jobParams?: (params: Params<Fields, Options>) => object | null;
  /**
   * Further targets chosen by the client, such as a resolver. The target policy checks them before a job is created.
   */
  readonly otherTargets?: (params: Params<Fields, Options>) => readonly OtherTarget[];
  /** Address whose registration data the coordinator looks up in advance, because `annotate` is synchronous. */
  readonly registeredAddress?: (result: ResultFields<Result>) => string | undefined;
  /** Adds locations and networks to a result. Runs in the coordinator, never in a probe. */
  readonly annotate?: (result: ResultFields<Result>, lookUp: LookUpPlace) => ResultFields<Result>;
}

export interface OtherTarget {
  /** JSON pointer to the field that contains the target. */
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

/** Parameters of a diagnostic: canonical host, fields of the type, and options with their defaults applied. */
export type Params<Fields extends TProperties, Options extends TProperties> = { readonly host: string } & Static<
  TObject<Fields>
> & { readonly options: Static<TObject<Options>> };

export type ResultFields<Result extends TProperties> = Partial<Static<TObject<Result>>>;

// oxlint-disable-next-line typescript/no-explicit-any -- a type parameter in argument position accepts no narrower bound
export type AnyCheckType = CheckType<string, any, any, any, any>;

export type ParamsOf<C extends AnyCheckType> = Params<C['fields'], C['options']>;

export type ResultFieldsOf<C extends AnyCheckType> = ResultFields<C['result']>;

/** Fields that a client reads: those of the probe and those that the coordinator adds. */
export type PublicFieldsOf<C extends AnyCheckType> = ResultFieldsOf<C> & ResultFields<NonNullable<C['added']>>;

/** Identity function that preserves the literal types of a contract. */
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

/** Request fields that select probes; they are not sent to probes. */
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
        'Locations of the probes: country code or name, city, continent, AS<digits>, network or datacenter name, ' +
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

const betweenSchema = Type.Array(probeIdSchema, {
  minItems: 2,
  maxItems: 2,
  uniqueItems: true,
  description:
    'Instead of `host`: two probes, each of which traces to the other. Both must offer an address of one family (`offers` in ' +
    '`GET /probes`). Not together with `host`, `probes`, `locations` or `limit`.',
  examples: [['fra-1', 'nyc-1']],
});

const hostDescriptions = {
  host: 'Host name or address literal, at most 253 characters after IDNA to-ASCII.',
  url: 'Absolute http(s) URL without credentials, at most 2,048 characters.',
  name: 'DNS name to ask for; `.`, top-level domains and names under in-addr.arpa and ip6.arpa are allowed.',
};

const hostBounds = { minLength: 1, maxLength: 2048 };

/** The fields that requests of all types have. */
export const commonRequestSchema = Type.Object({ host: Type.String(hostBounds), ...selectionFields });

/**
 * Builds the request schema of one type.
 *
 * @param known request fields of all types; those of other types are accepted and ignored
 */
export function requestSchema(checkType: AnyCheckType, known: readonly string[]): TSchema {
  const ignored = known.filter((field) => !(field in checkType.fields));
  return Type.Object(
    {
      type: Type.Literal(checkType.type),
      ...targetFields(checkType),
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

function targetFields({ hostKind, takesPairs = false }: AnyCheckType): TProperties {
  const host = Type.String({ ...hostBounds, description: hostDescriptions[hostKind] });
  return takesPairs ? { host: Type.Optional(host), between: Type.Optional(betweenSchema) } : { host };
}

/** Builds the schema of a job's `params`. Unknown fields are allowed, so that later releases can add some. */
export function paramsSchema(checkType: AnyCheckType): TSchema {
  return Type.Object({
    host: Type.String({ minLength: 1, maxLength: 2048 }),
    ...checkType.fields,
    options: Type.Object(checkType.options),
    ...(checkType.rules === undefined ? {} : { rules: Type.Optional(Type.Object(checkType.rules)) }),
  });
}

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

function callerOptional(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, 'default' in schema ? Type.Optional(schema) : schema]),
  );
}

function optional(fields: TProperties): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
}

/** True for a final result, false for a pending one. */
export function isFinal(result: { readonly result?: unknown }): boolean {
  return outcomes.some((word) => word === result.result);
}
