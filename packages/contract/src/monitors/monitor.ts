import { asnSchema, checkIdSchema, nullable, timestampSchema } from '../formats.ts';
import { Type, type Static } from '../type.ts';
import { monitorNameSchema, pathChangeSchema } from './event-fields.ts';
import { MONITOR_NAME_PATTERN, monitorRequestSchema } from './request.ts';

/** Number of runs that are kept of each monitor. */
export const MONITOR_RUNS_KEPT = 100;
/** Number of ticks with a change of the path that are kept of each monitor. */
export const PATH_CHANGES_KEPT = 100;

export const monitorStates = ['unknown', 'ok', 'bad'] as const;
export const monitoredProbeStates = ['ok', 'failing', 'unmeasured'] as const;

export type MonitorStateName = (typeof monitorStates)[number];
export type MonitoredProbeState = (typeof monitoredProbeStates)[number];

const count = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description });

export const agreementSchema = Type.Object(
  {
    failing: count('Probes that fail, of those that count.'),
    counted: count(
      'Probes that count: those that measured, without flapping ones unless the others are too few for an alarm.',
    ),
    needed: count('Probes that must fail for the monitor to be bad.'),
    networks: count('Different networks of the failing probes.'),
    countries: count('Different countries of the failing probes.'),
  },
  { additionalProperties: false, title: 'Agreement', description: 'How far the probes agree, at the last tick.' },
);

const reason = nullable(Type.String({ maxLength: 1_024, description: 'Why it fails or could not measure.' }));

const measured = {
  rtt: nullable(Type.Number({ minimum: 0, description: 'Round-trip or response time, milliseconds.' })),
  loss: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Share of lost packets; null except for ping.' })),
  certificateDays: nullable(
    Type.Integer({ description: 'Days until the certificate or one above it expires, negative once it has.' }),
  ),
  certificateLifeLeft: Type.Optional(
    Type.Number({
      description:
        'Share of the life of the server’s certificate that is left, negative once it has expired. Absent if its life is not known or if one above it expires within 14 days.',
    }),
  ),
  status: nullable(Type.Integer({ description: 'HTTP status code.' })),
};

export const monitoredProbeSchema = Type.Object(
  {
    state: Type.Enum([...monitoredProbeStates], {
      description: 'ok; failing: an expectation does not hold; unmeasured: the probe could not measure.',
    }),
    since: timestampSchema,
    flapping: Type.Boolean({ description: 'True while its state changes too often to be evidence.' }),
    network: nullable(asnSchema),
    country: nullable(Type.String({ maxLength: 2, description: 'ISO 3166-1 code.' })),
    reason,
    ...measured,
  },
  { additionalProperties: false, title: 'Monitored probe', description: 'The state of a monitor at one probe.' },
);

const emptyLocations = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 10, description }));

export const runSchema = Type.Object(
  {
    tick: Type.Integer({ minimum: 1, description: 'Number of the tick.' }),
    checkId: nullable(checkIdSchema),
    scheduledAt: timestampSchema,
    startedAt: nullable(timestampSchema),
    reason: nullable(Type.String({ maxLength: 1_024, description: 'Why no check was started; null if one was.' })),
    emptyLocations: emptyLocations(
      'Of the `locations` of the check those without a probe that could run it: the check ran from the others. Absent if there are none.',
    ),
    results: Type.Record(
      Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
      Type.Object(
        { state: Type.Enum([...monitoredProbeStates]), reason, ...measured },
        { additionalProperties: false, title: 'Run at a probe' },
      ),
    ),
  },
  { additionalProperties: false, title: 'Run', description: 'What became of one tick.' },
);

const monitorFields = {
  name: monitorNameSchema,
  owner: Type.Enum(['file', 'api'], { description: '`file`: `MONITORS_FILE` names it, and only the file changes it.' }),
  ...monitorRequestSchema.properties,
  state: Type.Enum([...monitorStates], {
    description: 'bad: the probes agree, as `alarm` says; unknown: too few probes could measure.',
  }),
  since: nullable(timestampSchema),
  alarmSince: nullable({
    ...timestampSchema,
    description:
      'Since when the alarm is on: from the turn to bad until the turn to ok, also while the monitor is unknown in between. ' +
      'Null while it is off.',
  }),
  headline: nullable(Type.String({ maxLength: 1_024, description: 'The last run in a sentence.' })),
  lastTickAt: nullable(timestampSchema),
  nextTickAt: nullable(timestampSchema),
  agreement: nullable(agreementSchema),
  tracerouteId: nullable({
    ...checkIdSchema,
    description:
      'Traceroute from failing and working probes, started when the monitor turned bad; null while it is not bad.',
  }),
  parting: nullable(
    Type.String({
      maxLength: 1_024,
      description:
        'What that traceroute shows, in a sentence: the last router that paths from failing and from working probes share, and the ' +
        'network where they part. Null until it is completed, and if it shows nothing.',
    }),
  ),
  lastPathChangeAt: nullable({
    ...timestampSchema,
    description:
      'Last tick at which the path from a probe had changed; null without one, and for other checks than traceroute.',
  }),
  emptyLocations: emptyLocations(
    'Of the `locations` of the check those without a probe at the last run. Absent if there are none.',
  ),
  probes: Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), monitoredProbeSchema, {
    description: 'The state at each probe of the last run.',
  }),
};

/** `GET /monitors/:name` */
export const monitorSchema = Type.Object(
  {
    ...monitorFields,
    pathChanges: Type.Array(pathChangeSchema, {
      maxItems: PATH_CHANGES_KEPT,
      description:
        'The last ticks at which the path from a probe had changed, newest first; empty for other checks than traceroute.',
    }),
    runs: Type.Array(runSchema, { maxItems: MONITOR_RUNS_KEPT, description: 'The last runs, newest first.' }),
  },
  { additionalProperties: false, title: 'Monitor' },
);

/** An entry of `GET /monitors`, and the data of a `monitor` event. */
export const monitorInListSchema = Type.Object(monitorFields, {
  additionalProperties: false,
  title: 'Monitor in a list',
});

/** `GET /monitors` */
export const monitorsSchema = Type.Record(Type.String({ pattern: MONITOR_NAME_PATTERN }), monitorInListSchema, {
  additionalProperties: false,
  title: 'Monitors',
  description: 'Object keyed by the name of the monitor.',
});

export type Agreement = Static<typeof agreementSchema>;
export type Run = Static<typeof runSchema>;
export type RunAtProbe = Run['results'][string];
export type Monitor = Static<typeof monitorSchema>;
export type MonitorInList = Omit<Monitor, 'runs' | 'pathChanges'>;
export type Monitors = Readonly<Record<string, MonitorInList>>;
