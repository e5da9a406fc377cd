import { NAME_PATTERN } from '../formats.ts';
import { Type, type Static } from '../type.ts';

export const MONITOR_NAME_PATTERN = NAME_PATTERN;
export const INTERVAL_PATTERN = '^[1-9]\\d{0,5}[smhd]$';
export const AGREEMENT_PATTERN = '^[1-9]\\d{0,2} of [1-9]\\d{0,2}$';
export const STATUS_PATTERN = '^[1-5](\\d\\d|xx)$';

/** Shortest value of `every`, seconds. */
export const SHORTEST_INTERVAL_SECONDS = 10;
/** Longest value of `every`, seconds. */
export const LONGEST_INTERVAL_SECONDS = 86_400;

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
        description:
          'Days for which the certificate, and those above it, must be valid at least; http with an https URL only.',
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

/** An entry of `MONITORS_FILE`, and the body of `PUT /monitors/:name`. */
export const monitorRequestSchema = Type.Object(
  {
    check: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description:
        'Body of `POST /check`; `probes`, `locations` and `limit` select where it runs from. Two defaults differ: no screenshot is ' +
        'taken unless `options.screenshot` asks for one, and a traceroute has 16 flows with one query each unless it has `flows`, ' +
        '`queries`, `rounds`, or `maxHops` above 40 (20 with both families).',
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

export type Expectation = Static<typeof expectationSchema>;
export type Alarm = Static<typeof alarmSchema>;
export type MonitorRequest = Static<typeof monitorRequestSchema>;

const name = new RegExp(MONITOR_NAME_PATTERN);

/** True for a well-formed name of a monitor. */
export function isMonitorName(text: string): boolean {
  return name.test(text);
}
