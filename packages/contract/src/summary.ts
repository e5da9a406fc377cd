import { checkStatuses } from './check.ts';
import { canonicalPathSchema } from './canonical-path.ts';
import { findingCodes, findingSeverities, type FindingCode } from './finding.ts';
import { addressSchema, asnSchema, checkIdSchema, durationSchema, nullable, probeIdSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

export const verdicts = {
  up: 'Every probe that could measure got a positive answer.',
  degraded: 'Every probe that could measure got an answer, and a finding reports a problem with it.',
  partial: 'Some probes got an answer, others none or a negative one.',
  down: 'No probe that could measure got an answer, or all got a negative one.',
  unknown:
    'No probe could measure, or the replies prove nothing: silence (UDP), a DNS server that did not ' +
    'answer the question, a trace that ran out of time.',
} as const;

export type Verdict = keyof typeof verdicts;

const probes = Type.Array(probeIdSchema, {
  maxItems: 100,
  uniqueItems: true,
  description: 'The probes that this rests on, in alphabetical order.',
});

const count = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description });
const packetCount = (description: string) => Type.Integer({ minimum: 0, description });

const finding = Type.Object(
  {
    code: Type.Enum(Object.keys(findingCodes) as [FindingCode, ...FindingCode[]], {
      description: 'What was found, from a closed list.',
    }),
    severity: Type.Enum([...findingSeverities], {
      description: 'critical: explains an outage; warning: wants a look; info: good to know.',
    }),
    text: Type.String({ maxLength: 1024, description: 'The same in a sentence or two, for a person.' }),
    probes,
  },
  { additionalProperties: false, title: 'Finding' },
);

export const groupSubjects = ['addresses', 'answers', 'certificate', 'status', 'redirect', 'state'] as const;

const group = Type.Object(
  {
    subject: Type.Enum([...groupSubjects], {
      description:
        'What was compared: the addresses of the host, the answers of a DNS check (their data, or the rcode ' +
        'without any), ' +
        'the fingerprint of the certificate, the HTTP status, the place of a redirect, the state of a port.',
    }),
    values: Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 50,
      description: 'What these probes saw, in alphabetical order.',
    }),
    probes,
  },
  { additionalProperties: false, title: 'Probes that saw the same' },
);

const pathNode = Type.Object(
  {
    id: Type.String({ maxLength: 256, description: 'Names the node within this graph.' }),
    kind: Type.Enum(['probe', 'router', 'target', 'private', 'silent'], {
      description:
        'private: a router whose address is not shown; silent: a hop that did not answer, one node for each position ' +
        'between the same two nodes; all the silent hops at the end of a path are one node.',
    }),
    ip: nullable(addressSchema),
    hostname: nullable(Type.String({ maxLength: 256, description: 'PTR name of the address.' })),
    asn: nullable(asnSchema),
    asName: nullable(Type.String({ maxLength: 256, description: 'Name of the autonomous system.' })),
    rttMin: nullable(durationSchema),
    hopMin: Type.Integer({ minimum: 0, maximum: 64, description: 'The smallest hop it was seen at; 0 for a probe.' }),
    hopMax: Type.Integer({ minimum: 0, maximum: 64, description: 'The largest hop it was seen at.' }),
    balances: Type.Optional(
      Type.Enum(['flow', 'packet', 'unknown'], {
        description:
          'With `flows: "all"`: how it chooses among several next hops; `unknown` also if probes disagree. Absent with one next hop at most.',
      }),
    ),
    probes,
  },
  { additionalProperties: false, title: 'Node of the paths' },
);

const pathEdge = Type.Object(
  {
    from: Type.String({ maxLength: 256, description: 'Id of a node.' }),
    to: Type.String({ maxLength: 256, description: 'Id of a node, another one than `from`.' }),
    probes,
    inferred: Type.Optional(
      Type.Literal(true, {
        description:
          'The packets of a flow met several routers at `from`, or a balancer may choose by packet: it is not known whether packets went from `from` to `to`.',
      }),
    ),
    sent: Type.Optional(packetCount('With `flows: "all"`: packets that were to end at `to`, of all probes together.')),
    received: Type.Optional(packetCount('Those that were answered.')),
    rttMin: Type.Optional(nullable(durationSchema)),
  },
  { additionalProperties: false, title: 'Edge of the paths' },
);

const pathEnd = Type.Object(
  {
    node: Type.String({ maxLength: 256, description: 'Id of the last node that answered.' }),
    reason: Type.Enum(['reached', 'silent', 'refused', 'loop', 'cut', 'pending'], {
      description:
        'reached: it is the target; silent: nothing after it answered; refused: an ICMP error said that the ' +
        'packets go no further; ' +
        'loop: the packets go round in a circle; cut: the trace ended here before the path did; pending: the ' +
        'trace is under way.',
    }),
    probes,
  },
  { additionalProperties: false, title: 'End of paths' },
);

const paths = Type.Object(
  {
    nodes: Type.Array(pathNode, { description: 'In the order of `hopMin`, then `id`.' }),
    edges: Type.Array(pathEdge, { description: 'From a hop to the next one, in the order of the nodes.' }),
    ends: Type.Array(pathEnd, { description: 'The ends of the paths and their causes.' }),
    canonical: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), canonicalPathSchema, {
        additionalProperties: false,
        description:
          'The path of each probe as sets of addresses, with a hash. Absent in summaries of earlier releases.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Paths', description: 'The paths of all probes merged into one graph.' },
);

/** Response of `GET /check/:id/summary`. */
export const summarySchema = Type.Object(
  {
    checkId: checkIdSchema,
    type: Type.String({ maxLength: 32, description: 'Check type.' }),
    host: Type.String({ description: 'Target as submitted.' }),
    status: Type.Enum([...checkStatuses], {
      description: 'That of the check. While it is pending the summary is of the probes that have answered.',
    }),
    verdict: Type.Enum(Object.keys(verdicts) as [Verdict, ...Verdict[]], {
      description: Object.entries(verdicts)
        .map(([verdict, meaning]) => `${verdict}: ${meaning}`)
        .join(' '),
    }),
    agree: Type.Object(
      {
        n: count('Probes on the larger side.'),
        of: count('Probes that count: those that had an answer, and those that had none or a negative one.'),
      },
      { additionalProperties: false, description: 'How many of the probes that count say the same.' },
    ),
    counts: Type.Object(
      {
        up: count('Had an answer.'),
        down: count('Had none, or a negative one.'),
        silent: count(
          'Heard nothing that would prove either: UDP silence, a DNS server that did not answer the question, ' +
            'a trace that time ended.',
        ),
        notMeasured: count('Could not run the check.'),
        pending: count('Have not answered yet.'),
      },
      { additionalProperties: false, description: 'The probes of the check by what they say.' },
    ),
    headline: Type.String({ maxLength: 1024, description: 'The answer in one sentence, for a person.' }),
    findings: Type.Array(finding, { description: 'The gravest first.' }),
    groups: Type.Array(group, {
      description:
        'Who saw what; for each subject the largest group first. A subject is there if it was measured at all.',
    }),
    paths: Type.Optional(paths),
  },
  { additionalProperties: false, title: 'Summary', description: 'What the results of a check mean together.' },
);

export type Summary = Static<typeof summarySchema>;
export type Finding = Static<typeof finding>;
export type SummaryGroup = Static<typeof group>;
export type Paths = Static<typeof paths>;
export type PathNode = Static<typeof pathNode>;
export type PathEdge = Static<typeof pathEdge>;
export type PathEnd = Static<typeof pathEnd>;
