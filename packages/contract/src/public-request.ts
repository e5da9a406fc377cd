import type { AnyCheckType } from './check-type.ts';
import { Type, type TProperties, type TSchema } from './type.ts';

/** The request of a check, as anyone with its id can read it. */
export interface PublicRequest {
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Names of the options that are withheld, and `rules` if the request has them. */
  readonly withheld?: readonly string[] | undefined;
  /** Fields of the check type. */
  readonly [field: string]: unknown;
}

/** Name in `withheld` of the rules of a module, which no client can set. */
const RULES = 'rules';

/**
 * The fields and options of a request in their canonical spelling, without those that equal their default, and without
 * the private ones of the type, of which only the names remain.
 *
 * @param params parameters of the diagnostic, defaults included
 */
export function publicRequest(
  checkType: AnyCheckType,
  params: Readonly<Record<string, unknown>> & { readonly options: Readonly<Record<string, unknown>> },
): PublicRequest {
  const isPrivate = (name: string): boolean => (checkType.privateOptions ?? []).includes(name);
  const canonical = { ...params, ...checkType.canonicalFields?.(params as never) };
  const fields = changed(checkType.fields as TProperties, canonical);
  const options = changed(checkType.options as TProperties, params.options);
  const shown = options.filter(([name]) => !isPrivate(name));
  const withheld = [
    ...options.flatMap(([name]) => (isPrivate(name) ? [name] : [])),
    ...(params[RULES] === undefined ? [] : [RULES]),
  ];
  return {
    ...Object.fromEntries(fields),
    ...(shown.length === 0 ? {} : { options: Object.fromEntries(shown) }),
    ...(withheld.length === 0 ? {} : { withheld }),
  };
}

function changed(schemas: TProperties, values: Readonly<Record<string, unknown>>): readonly [string, unknown][] {
  const found: [string, unknown][] = [];
  for (const name of Object.keys(schemas)) {
    const value = values[name];
    const standard = (schemas[name] as { readonly default?: unknown }).default;
    if (value !== undefined && !isSame(value, standard)) found.push([name, value]);
  }
  return found;
}

function isSame(value: unknown, standard: unknown): boolean {
  if (typeof value !== 'object' || typeof standard !== 'object') return value === standard;
  return JSON.stringify(value) === JSON.stringify(standard);
}

/** Schema of `publicRequest` for one check type. */
export function publicRequestSchema(checkType: AnyCheckType): TSchema {
  const { type, title, privateOptions = [] } = checkType;
  const shown = Object.entries(checkType.options as TProperties).filter(([name]) => !privateOptions.includes(name));
  const options = Type.Object(optional(Object.fromEntries(shown)), { additionalProperties: false });
  const withheld = Type.Array(Type.Enum([...privateOptions, RULES]), {
    minItems: 1,
    uniqueItems: true,
    description:
      'What was asked and is not repeated: options that may have credentials, and the `rules` of an operator’s module. ' +
      'Absent if nothing is.',
  });
  return Type.Object(
    {
      ...optional(checkType.fields as TProperties),
      options: Type.Optional(options),
      withheld: Type.Optional(withheld),
    },
    {
      additionalProperties: false,
      title: `What a ${type} check was asked`,
      description:
        `Fields and options of the ${title} check as asked, for everyone who has its id. Those with their default value are ` +
        'absent. Absent as a whole in a check that an earlier release stored.',
    },
  );
}

/** The fields as optional ones, without defaults: `publicRequest` leaves out values that equal theirs. */
function optional(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const { default: _default, ...rest } = schema as TSchema & { readonly default?: unknown };
      return [name, Type.Optional(Type.Unsafe(rest))];
    }),
  );
}
