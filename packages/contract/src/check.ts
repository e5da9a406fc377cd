import { checkIdSchema, nullable, probeIdSchema, timestampSchema } from './formats.ts';
import { publicRequestSchema, type PublicRequest } from './public-request.ts';
import type { AnyCheckType } from './check-type.ts';
import { Type, type Static, type TSchema } from './type.ts';

export const checkStatuses = ['pending', 'completed'] as const;

/** Response of `POST /check`. */
export const checkStartSchema = Type.Object(
  {
    checkId: checkIdSchema,
    status: Type.Literal('pending'),
    message: Type.String({ description: 'Confirmation in words.' }),
  },
  { additionalProperties: false, title: 'Check start' },
);

export type CheckStart = Static<typeof checkStartSchema>;

const checkFields = {
  testId: checkIdSchema,
  type: Type.String({ description: 'Check type.' }),
  host: Type.String({
    description: 'Target as submitted; of a check `between` two probes their ids, as `fra-1 ↔ nyc-1`.',
  }),
  between: Type.Optional(
    Type.Array(probeIdSchema, {
      minItems: 2,
      maxItems: 2,
      description:
        'The two probes of such a check: each traced to an address of the other, its `resolvedIp`. Absent in others.',
    }),
  ),
  emptyLocations: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), {
      maxItems: 10,
      description:
        'Of the `locations` of the request those without a probe that could run the check: the results are those of the others. Absent if there are none.',
    }),
  ),
  status: Type.Enum([...checkStatuses], {
    description: 'pending until each probe has a final result, then completed permanently.',
  }),
  createdAt: timestampSchema,
  completedAt: nullable(timestampSchema),
};

/**
 * `GET /check/:id/results` for one check type.
 *
 * @param result the schema of one probe's result, pending or final
 */
export function checkSchema(checkType: AnyCheckType, result: TSchema): TSchema {
  const { type, title } = checkType;
  return Type.Object(
    {
      ...checkFields,
      type: Type.Literal(type),
      request: Type.Optional(publicRequestSchema(checkType)),
      results: Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), result, {
        additionalProperties: false,
      }),
    },
    { additionalProperties: false, title: `${title} check and its results` },
  );
}

const check = Type.Object(checkFields);

/** A check as a client reads it; results by probe id, typed by the check's type. */
export type Check<Result = Readonly<Record<string, unknown>>> = Static<typeof check> & {
  /** The request without private options; undefined in a check that an earlier release stored. */
  readonly request?: PublicRequest;
  readonly results: Readonly<Record<string, Result>>;
};
