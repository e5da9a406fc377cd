import type { AnyCheckType } from './check-type.ts';
import { probeIdSchema } from './formats.ts';
import { Type, type TProperties, type TSchema } from './type.ts';

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

/** The fields of a request that mean the same in all types: its host, and the selection of probes. */
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

function callerOptional(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, 'default' in schema ? Type.Optional(schema) : schema]),
  );
}
