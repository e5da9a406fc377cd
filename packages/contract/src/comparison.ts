import { canonicalPathSchema } from './canonical-path.ts';
import { addressSchema, checkIdSchema, nullable, probeIdSchema, timestampSchema } from './formats.ts';
import { verdicts, type Verdict } from './summary.ts';
import { Type, type Static } from './type.ts';

/** Subjects of differences, the gravest first. */
export const differenceSubjects = {
  request: 'What was asked: host, port, record type, protocol, size, TTL or DSCP of the packets, address families.',
  verdict: 'The verdict of the summary.',
  outcome: 'The outcome of a probe, or the code of its failure.',
  state: 'The state of a port.',
  status: 'The HTTP status.',
  answers: 'The records of a DNS answer, or its rcode and class.',
  redirect: 'The URL of the response, or its Location header.',
  certificate: 'The certificate of the server, or whether it is trusted.',
  addresses: 'The addresses of the name, or the one that was measured.',
  place: 'Network, place or name of the address.',
  protocol: 'The version of HTTP or TLS.',
  path: 'The routers on the path.',
  mtu: 'The path MTU, or the size from which packets vanish.',
  rewritten: 'The fields of packets that address translation on the path changes.',
  dscp: 'The DSCP that routers saw in packets.',
  loss: 'The share of lost packets or handshakes.',
  rtt: 'The round-trip time.',
  phase: 'The time of a phase.',
} as const;

export type DifferenceSubject = keyof typeof differenceSubjects;

const subject = Type.Enum(Object.keys(differenceSubjects) as [DifferenceSubject, ...DifferenceSubject[]], {
  description: Object.entries(differenceSubjects)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join(' '),
});

const family = Type.Optional(
  Type.Enum([4, 6], { description: 'The address family of the difference, if both checks measured over both.' }),
);

const certain = Type.Boolean({
  description:
    'True if neither chance nor a load balancer, rotation or silence explains the difference; chance explains a difference of times or losses in less than one of a hundred comparisons. ' +
    'False if two checks cannot tell: a difference of traces that a load balancer explains as well, a time that each check measured once.',
});

const text = Type.String({ maxLength: 1024, description: 'The same in words; the value of `a` is before the arrow.' });

const probes = Type.Array(probeIdSchema, { maxItems: 100, uniqueItems: true });

const values = (description: string) => Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64, description });

export const differenceSchema = Type.Object(
  {
    subject,
    name: nullable(Type.String({ maxLength: 32, description: 'The field or phase, if the subject has several.' })),
    family,
    a: values('Values of the first check.'),
    b: values('Values of the second check.'),
    amounts: Type.Optional(
      Type.Object(
        { a: Type.Number({ minimum: 0 }), b: Type.Number({ minimum: 0 }), unit: Type.Enum(['ms', 'share']) },
        {
          additionalProperties: false,
          description: 'The same as numbers: median milliseconds, or the share of lost packets.',
        },
      ),
    ),
    certain,
    text,
  },
  { additionalProperties: false, title: 'Difference' },
);

const sharedDifference = Type.Object(
  { subject, name: differenceSchema.properties.name, family, certain, text, probes },
  { additionalProperties: false, title: 'Difference with its probes' },
);

const pathChange = Type.Object(
  {
    hopA: nullable(
      Type.Integer({ minimum: 1, maximum: 64, description: 'First hop in the first check; null if there is none.' }),
    ),
    hopB: nullable(
      Type.Integer({ minimum: 1, maximum: 64, description: 'First hop in the second check; null if there is none.' }),
    ),
    a: Type.Array(Type.Array(addressSchema, { maxItems: 17 }), { maxItems: 64 }),
    b: Type.Array(Type.Array(addressSchema, { maxItems: 17 }), { maxItems: 64 }),
  },
  { additionalProperties: false, title: 'Part of a path that differs' },
);

export const pathRelations = {
  same: 'The same routers answered at the same hops.',
  compatible: 'Silent hops and alternatives of load balancers explain all differences.',
  unsure:
    'Routers differ, and a load balancer would explain it as well as a change: the traces have too few flows. Or a ' +
    'balancer has fewer, more or other ways, unless chance missed one.',
  changed: 'Addresses of routers differ, and chance does not explain it. A router may answer from another address.',
  not_compared: 'There is no trace in one check, or the targets or protocols of the traces differ.',
} as const;

export type PathRelation = keyof typeof pathRelations;

const pathComparison = Type.Object(
  {
    relation: Type.Enum(Object.keys(pathRelations) as [PathRelation, ...PathRelation[]], {
      description: Object.entries(pathRelations)
        .map(([name, meaning]) => `${name}: ${meaning}`)
        .join(' '),
    }),
    a: nullable(canonicalPathSchema),
    b: nullable(canonicalPathSchema),
    changes: Type.Array(pathChange, { maxItems: 64, description: 'The parts that differ, from the probe on.' }),
  },
  { additionalProperties: false, title: 'Comparison of two paths' },
);

const side = Type.Object(
  {
    checkId: checkIdSchema,
    host: Type.String({ description: 'Target as submitted.' }),
    createdAt: timestampSchema,
    verdict: Type.Enum(Object.keys(verdicts) as [Verdict, ...Verdict[]]),
    probes: Type.Array(probeIdSchema, { maxItems: 100, description: 'The probes that are in this check only.' }),
  },
  { additionalProperties: false, title: 'Compared check' },
);

/** Response of `GET /check/:a/compare/:b`. */
export const comparisonSchema = Type.Object(
  {
    type: Type.String({ maxLength: 32, description: 'Check type of both.' }),
    a: side,
    b: side,
    result: Type.Enum(['same', 'unsure', 'different'], {
      description:
        'same: nothing differs beyond noise; unsure: only what two checks cannot tell, or no probe measured in both; ' +
        'different: the rest.',
    }),
    sentence: Type.String({ maxLength: 1024, description: 'The differences in one sentence, for a person.' }),
    differences: Type.Array(sharedDifference, {
      maxItems: 1024,
      description:
        'The gravest subject first. Probes with equal differences share one entry; those of the check have no probes.',
    }),
    probes: Type.Unsafe<Readonly<Record<string, ProbeComparison>>>(
      Type.Record(
        Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
        Type.Object(
          {
            differences: Type.Array(differenceSchema, { maxItems: 64 }),
            path: Type.Optional(pathComparison),
            otherPath: Type.Optional({
              ...pathComparison,
              description:
                'The paths over IPv6, if both checks measured over both families; `path` has those over IPv4.',
            }),
          },
          { additionalProperties: false, title: 'Comparison of one probe' },
        ),
        { additionalProperties: false, description: 'The probes that are in both checks.' },
      ),
    ),
  },
  { additionalProperties: false, title: 'Comparison', description: 'The differences between two checks of one type.' },
);

export type Comparison = Static<typeof comparisonSchema>;
export type Difference = Static<typeof differenceSchema>;
export type SharedDifference = Static<typeof sharedDifference>;
export type PathChange = Static<typeof pathChange>;
export type PathComparison = Static<typeof pathComparison>;

export interface ProbeComparison {
  readonly differences: readonly Difference[];
  readonly path?: PathComparison;
  readonly otherPath?: PathComparison;
}
