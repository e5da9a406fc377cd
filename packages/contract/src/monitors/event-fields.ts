import { addressSchema, asnSchema, checkIdSchema, nullable, probeIdSchema, timestampSchema } from '../formats.ts';
import { Type, type Static } from '../type.ts';
import { MONITOR_NAME_PATTERN } from './request.ts';

export const monitorNameSchema = Type.String({
  pattern: MONITOR_NAME_PATTERN,
  maxLength: 63,
  description: 'Name of the monitor.',
});

export const eventFields = {
  monitor: monitorNameSchema,
  tick: Type.Integer({ minimum: 1, description: 'Tick at which it changed.' }),
  at: timestampSchema,
  checkId: nullable(checkIdSchema),
};

export const sentence = Type.String({ maxLength: 1_024 });

/** Maximum number of different changes in `changes` of a `path` event. */
export const MOST_MOVES = 8;
/** Maximum numbers of hops in a row, and of addresses of one hop, that a change names before and after it. */
export const [MOVE_HOPS, MOVE_ADDRESSES] = [8, 4];

/** Kinds of changes of a path, the gravest first. */
export const pathChangeKinds = ['path', 'ways', 'hop'] as const;

export type PathChangeKind = (typeof pathChangeKinds)[number];

export const changeKindsText =
  '`hop`: single hops answered from other addresses, another router or the same one by another interface, as after a change of its way back; ' +
  '`ways`: a load balancer lost or gained ways, as several runs prove together; ' +
  '`path`: hops in a row did, or there are more hops or fewer';

const hops = (description: string) =>
  Type.Array(Type.Array(addressSchema, { maxItems: MOVE_ADDRESSES }), { maxItems: MOVE_HOPS, description });

const networks = (description: string) => Type.Array(asnSchema, { maxItems: 16, description });

/** A change of the path, the same for each of its probes. */
export const moveFields = {
  probes: Type.Array(probeIdSchema, { maxItems: 100, description: 'Probes that see this change.' }),
  before: { ...checkIdSchema, description: 'Check with the path before.' },
  change: Type.Enum([...pathChangeKinds], { description: `${changeKindsText}.` }),
  hop: Type.Integer({ minimum: 1, maximum: 64, description: 'First hop that differs.' }),
  from: hops('Addresses of the first hops in a row that differ, before; a silent hop has none.'),
  to: hops('The same after the change.'),
  networksGone: networks('Networks of routers before that answer nowhere on the path after.'),
  networksNew: networks('Networks of routers after that answered nowhere on the path before.'),
  text: Type.String({ maxLength: 512, description: 'The change in words.' }),
};

const moveSchema = Type.Object(moveFields, { additionalProperties: false, title: 'Change of a path' });

export const pathEventFields = {
  ...eventFields,
  before: Type.Array(checkIdSchema, { maxItems: 100, description: 'Checks with the paths before.' }),
  probes: Type.Array(Type.String(), { maxItems: 100, description: 'Probes that see the change.' }),
  change: Type.Optional(
    Type.Enum([...pathChangeKinds], {
      description: `${changeKindsText}, from one probe at least. Absent in events of earlier releases.`,
    }),
  ),
  sentence,
  changes: Type.Optional(
    Type.Array(moveSchema, {
      maxItems: MOST_MOVES,
      description:
        'Each different change with its probes, most probes first; of more than eight the others are in `probes` only. Absent in events of earlier releases.',
    }),
  ),
};

/** A past `path` event, as its monitor lists it. */
export const pathChangeSchema = Type.Object(
  {
    tick: eventFields.tick,
    at: eventFields.at,
    checkId: eventFields.checkId,
    probes: pathEventFields.probes,
    change: Type.Enum([...pathChangeKinds], { description: `${changeKindsText}, from one probe at least.` }),
    sentence,
    changes: Type.Array(
      Type.Object(
        {
          ...moveFields,
          kept: Type.Boolean({
            description:
              'True if the results of both checks are still kept: `GET /check/:a/compare/:b` compares `before` with `checkId`.',
          }),
        },
        { additionalProperties: false, title: 'Past change of a path' },
      ),
      {
        maxItems: MOST_MOVES,
        description:
          'Each different change with its probes, most probes first; of more than eight the others are in `probes` only.',
      },
    ),
  },
  { additionalProperties: false, title: 'Path change', description: 'A past `path` event of a monitor.' },
);

export type PathChangeOfMonitor = Static<typeof pathChangeSchema>;
/** A past `path` event as stored. A reader adds `kept`, which changes with time. */
export type StoredPathChange = Omit<PathChangeOfMonitor, 'changes'> & {
  readonly changes: readonly Omit<PathChangeOfMonitor['changes'][number], 'kept'>[];
};
