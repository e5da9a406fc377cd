import { checkIdSchema, nullable } from '../formats.ts';
import { Type, type Static } from '../type.ts';
import { eventFields, pathEventFields, sentence } from './event-fields.ts';
import { agreementSchema, monitoredProbeSchema, monitoredProbeStates, monitorStates } from './monitor.ts';

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
    reason: monitoredProbeSchema.properties.reason,
  },
  {
    additionalProperties: false,
    title: 'Monitored probe event',
    description: 'A probe of a monitor changed its state.',
  },
);

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
  { kind: Type.Literal('path'), ...pathEventFields },
  {
    additionalProperties: false,
    title: 'Path event',
    description:
      'Other addresses answered at hops of the path from some probes to the target of a traceroute, or there are more hops or fewer, or ways of a load balancer. Balancing over the same ways is no change.',
  },
);

export type MonitorEvent =
  | Static<typeof stateEventSchema>
  | Static<typeof probeEventSchema>
  | Static<typeof partingEventSchema>
  | Static<typeof pathEventSchema>;

export type PathEvent = Static<typeof pathEventSchema>;
