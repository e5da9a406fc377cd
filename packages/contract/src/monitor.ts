import { asnSchema, checkIdSchema, NAME_PATTERN, nullable, timestampSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

export const MONITOR_NAME_PATTERN = NAME_PATTERN;
export const INTERVAL_PATTERN = '^[1-9]\\d{0,5}[smhd]$';
export const AGREEMENT_PATTERN = '^[1-9]\\d{0,2} of [1-9]\\d{0,2}$';
export const STATUS_PATTERN = '^[1-5](\\d\\d|xx)$';

/** Bounds of `every`, seconds. */
export const SHORTEST_INTERVAL_SECONDS = 10;
export const LONGEST_INTERVAL_SECONDS = 86_400;

/** Runs of a monitor that are kept. */
export const MONITOR_RUNS_KEPT = 100;

export const monitorStates = ['unknown', 'ok', 'bad'] as const;
export const monitoredProbeStates = ['ok', 'failing', 'unmeasured'] as const;

export type MonitorStateName = (typeof monitorStates)[number];
export type MonitoredProbeState = (typeof monitoredProbeStates)[number];

export const expectationSchema = Type.Object(
  {
    result: Type.Optional(
      Type.Enum(['success', 'failure'], {
        description:
          '`failure`: the target must not answer, such as a port that has to be closed. `success` also counts silence ' +
          'of a UDP port as failing. Absent: the target must answer.',
      }),
    ),
    maxRtt: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 60_000,
        description: 'Longest round-trip or response time, milliseconds: `rttAvg` of ping, `rt` of all other types.',
      }),
    ),
    maxLoss: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Largest share of lost packets; ping only.' }),
    ),
    certificateDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_650,
        description: 'Days for which the certificate must be valid at least; http with an https URL only.',
      }),
    ),
    status: Type.Optional(
      Type.Array(Type.String({ pattern: STATUS_PATTERN, maxLength: 3 }), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Status codes or classes that are as they must be; http only.',
        examples: [['2xx', '301']],
      }),
    ),
    answers: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1_024 }), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Data of records that the answer must have, as `dig` prints them; dns only.',
        examples: [['192.0.2.1']],
      }),
    ),
  },
  { additionalProperties: false, title: 'Expectation', description: 'What each result must fulfil.' },
);

export const alarmSchema = Type.Object(
  {
    when: Type.Optional(
      Type.String({
        pattern: AGREEMENT_PATTERN,
        maxLength: 10,
        default: '1 of 2',
        description:
          'Share of the probes that must fail, as `3 of 5`: of 10 probes that is 6. Probes that could not measure and ' +
          'flapping ones do not count. Never fewer probes than the smaller of the first number and two.',
        examples: ['3 of 5'],
      }),
    ),
    networks: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 1,
        description: 'Different networks (AS numbers) in which probes must fail.',
      }),
    ),
    countries: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 1,
        description: 'Different countries in which probes must fail.',
      }),
    ),
    for: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 2,
        description: 'Consecutive ticks for which this must hold, or not hold, before the state changes.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Alarm', description: 'When the monitor is bad.' },
);

/** An entry of `monitors.yml`. */
export const monitorRequestSchema = Type.Object(
  {
    check: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description:
        'Body of `POST /check`; `probes`, `locations` and `limit` select where it runs from. No screenshot is taken ' +
        'unless `options.screenshot` asks for one.',
      examples: [{ type: 'ping', host: 'example.com', limit: 5 }],
    }),
    every: Type.String({
      pattern: INTERVAL_PATTERN,
      maxLength: 7,
      description: 'Interval from one tick to the next, 10 seconds to one day: `30s`, `5m`, `1h`.',
      examples: ['60s'],
    }),
    expect: Type.Optional(expectationSchema),
    alarm: Type.Optional(alarmSchema),
    webhooks: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
        minItems: 1,
        maxItems: 5,
        uniqueItems: true,
        description:
          'http(s) URLs to which each change of the state is sent, signed as Standard Webhooks define. The target policy ' +
          'holds for them. Answers show only their origin.',
        examples: [['https://hooks.example.com/vantage']],
      }),
    ),
  },
  { additionalProperties: false, title: 'Monitor request', description: 'A check that repeats.' },
);

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
  certificateDays: nullable(Type.Integer({ description: 'Days until the certificate expires.' })),
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

export const runSchema = Type.Object(
  {
    tick: Type.Integer({ minimum: 1, description: 'Number of the tick.' }),
    checkId: nullable(checkIdSchema),
    scheduledAt: timestampSchema,
    startedAt: nullable(timestampSchema),
    reason: nullable(Type.String({ maxLength: 1_024, description: 'Why no check was started; null if one was.' })),
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
  name: Type.String({ pattern: MONITOR_NAME_PATTERN, maxLength: 63, description: 'Name of the monitor.' }),
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
  probes: Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), monitoredProbeSchema, {
    description: 'The state at each probe of the last run.',
  }),
};

/** `GET /monitors/:name` */
export const monitorSchema = Type.Object(
  {
    ...monitorFields,
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

const eventFields = {
  monitor: monitorFields.name,
  tick: Type.Integer({ minimum: 1, description: 'Tick at which it changed.' }),
  at: timestampSchema,
  checkId: nullable(checkIdSchema),
};

/** Data of a `state` event. */
export const stateEventSchema = Type.Object(
  {
    kind: Type.Literal('state'),
    ...eventFields,
    from: Type.Enum([...monitorStates]),
    to: Type.Enum([...monitorStates]),
    headline: nullable(Type.String({ maxLength: 1_024 })),
    agreement: agreementSchema,
    failing: Type.Array(Type.String(), { maxItems: 100, description: 'Probes that fail.' }),
    tracerouteId: nullable({
      ...checkIdSchema,
      description: 'Traceroute from failing and working probes, started when the monitor turned bad; else null.',
    }),
  },
  { additionalProperties: false, title: 'State event', description: 'The monitor changed its state.' },
);

/** Data of a `probe` event. */
export const probeEventSchema = Type.Object(
  {
    kind: Type.Literal('probe'),
    ...eventFields,
    probe: Type.String(),
    from: Type.Enum([...monitoredProbeStates]),
    to: Type.Enum([...monitoredProbeStates]),
    reason,
  },
  {
    additionalProperties: false,
    title: 'Monitored probe event',
    description: 'A probe of a monitor changed its state.',
  },
);

const sentence = Type.String({ maxLength: 1_024 });

/** Data of a `parting` event. */
export const partingEventSchema = Type.Object(
  {
    kind: Type.Literal('parting'),
    ...eventFields,
    failing: Type.Array(Type.String(), {
      maxItems: 100,
      description: 'Probes that failed when the monitor turned bad.',
    }),
    sentence,
  },
  {
    additionalProperties: false,
    title: 'Parting event',
    description:
      'The traceroute of a turn to bad, `checkId`, is completed: where the paths of failing and working probes part.',
  },
);

/** Data of a `path` event. */
export const pathEventSchema = Type.Object(
  {
    kind: Type.Literal('path'),
    ...eventFields,
    before: Type.Array(checkIdSchema, { maxItems: 100, description: 'Checks with the paths before.' }),
    probes: Type.Array(Type.String(), { maxItems: 100, description: 'Probes whose path changed.' }),
    sentence,
  },
  {
    additionalProperties: false,
    title: 'Path event',
    description: 'The path from some probes to the target of a traceroute changed. Load balancing is no change.',
  },
);

export type MonitorEvent =
  | Static<typeof stateEventSchema>
  | Static<typeof probeEventSchema>
  | Static<typeof partingEventSchema>
  | Static<typeof pathEventSchema>;
export type Expectation = Static<typeof expectationSchema>;
export type Alarm = Static<typeof alarmSchema>;
export type MonitorRequest = Static<typeof monitorRequestSchema>;
export type Agreement = Static<typeof agreementSchema>;
export type Run = Static<typeof runSchema>;
export type RunAtProbe = Run['results'][string];
export type Monitor = Static<typeof monitorSchema>;
export type MonitorInList = Omit<Monitor, 'runs'>;
export type Monitors = Readonly<Record<string, MonitorInList>>;

const name = new RegExp(MONITOR_NAME_PATTERN);

/** True for a well-formed name; others are rejected without a lookup in Redis. */
export function isMonitorName(text: string): boolean {
  return name.test(text);
}
