import type { LookUpPlace } from './place.ts';
import type { ScreenshotParams } from './screenshot.ts';
import type { TargetPurpose } from './target.ts';
import type { Traffic } from './traffic.ts';
import type { Static, TObject, TProperties } from './type.ts';

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
   * Request fields of this type besides `host`, `options` and those that select probes. A field with a `default` is
   * optional for the client. Fields of other types are ignored.
   */
  readonly fields: Fields;
  /** Options of the type. Those with a `default`, or declared optional, may be omitted. */
  readonly options: Options;
  /** Options that may have credentials. The public `request` of a check names those that were given, without values. */
  readonly privateOptions?: readonly (keyof Options & string)[];
  /**
   * Parameters that only modules of scrapes set, in `params.rules` of a job; no client can. Agents ignore those that
   * they do not know.
   */
  readonly rules?: TProperties | undefined;
  /** Result fields besides the common ones. All become optional. */
  readonly result: Result;
  /** Fields that the coordinator adds to a result; a result of a probe that has one fails validation. */
  readonly added?: Added | undefined;
  /** Fields of `result` that every `success` carries. */
  readonly requiredOnSuccess: readonly (keyof Result & string)[];
  /** True if a request may name two probes, `between`, instead of a host: each measures the other. */
  readonly takesPairs?: boolean;
  /** True if the probe needs raw sockets. */
  readonly needsRawSockets: boolean;
  /** Parameters of the check's single screenshot; undefined if the client requested none. */
  readonly screenshot?: (params: Params<Fields, Options>) => ScreenshotParams | undefined;
  /** Time from the creation of the check within which a probe must report its result, in milliseconds. */
  readonly budgetMs: (params: Params<Fields, Options>) => number;
  /** Upper bound of the traffic of one run, the screenshot excluded. */
  readonly traffic: (params: Params<Fields, Options>) => Traffic;
  /**
   * Rules that a schema cannot express, applied by `ruleErrors`. A rule must read only the fields that it is about,
   * because a rule that reads a field without a valid value is skipped.
   */
  readonly inputRules?: readonly ((params: Params<Fields, Options>) => readonly InputError[])[];
  /** Fields that have several spellings, in the spelling that `publicRequest` returns. Applied after `inputRules`. */
  readonly canonicalFields?: (params: Params<Fields, Options>) => Partial<Static<TObject<Fields>>>;
  /**
   * Parameters as jobs carry them, if agents of earlier releases would reject those of the request; null if jobs carry
   * those of the request. Agents ignore options that they do not know.
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
