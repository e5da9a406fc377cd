import { PUBLIC_KEY_PATTERN, SIGNATURE_PATTERN, TOKEN_PATTERN } from './enrolment.ts';
import { checkIdSchema, probeIdSchema } from './formats.ts';
import { entryKinds } from './job.ts';
import { heartbeatSchema } from './probe.ts';
import { MAX_RESULT_BYTES } from './result.ts';
import { MAX_SCREENSHOT_BYTES } from './screenshot.ts';
import { Type, type Static } from './type.ts';

/** Path of the gateway, below the base address of the service. */
export const GATEWAY_PATH = '/agent';

/** Versions of the protocol that this release speaks. */
export const gatewayVersions = { oldest: 1, newest: 1 } as const;

/** The agent sends a ping this often: the pong shows that both directions work. */
export const GATEWAY_PING_MS = 2_000;

/** Limit of one message, compressed and uncompressed. */
export const MAX_GATEWAY_MESSAGE_BYTES = 256 * 1024;
/** Messages of more bytes are compressed. */
export const COMPRESS_ABOVE_BYTES = 1024;

/** Maximum bytes of a screenshot in one frame. */
export const SCREENSHOT_PIECE_BYTES = 32 * 1024;
/** Maximum pieces of a screenshot that are sent and not acknowledged: a result on the connection waits behind them. */
export const SCREENSHOT_PIECES_IN_FLIGHT = 2;

/** Reasons for which a gateway closes a connection; RFC 6455 section 7.4.2 leaves 4000 to 4999 to applications. */
export const gatewayCloseCodes = {
  4400: 'The agent broke the protocol.',
  4401: 'The identity of the agent was refused; the reason is a code of enrolment.',
  4403: 'The probe was suspended or removed, or its key was replaced.',
  4406: 'The gateway does not speak the version of the agent; the reason is the nearest one that it speaks.',
  4408: 'The agent did not identify itself in time.',
  4409: 'A newer connection of the probe has taken over, or another instance is connected while this one yields.',
  4413: 'The agent does not read what it is sent.',
} as const satisfies Readonly<Record<number, string>>;

/** Reason of the close code 4403 if the probe may work again: the agent connects again as after a lost connection. */
export const RESUMED = 'resumed';

export type GatewayCloseCode = keyof typeof gatewayCloseCodes;

const jobId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the job: of a check, or of its screenshot.',
});
const seq = Type.Integer({ minimum: 1, maximum: 0xff_ff_ff_ff, description: 'Number of a message of its connection.' });
const traceparent = Type.Optional(Type.String({ pattern: '^[0-9a-f-]{1,128}$', maxLength: 128 }));

const hello = Type.Object({
  t: Type.Literal('hello'),
  v: Type.Integer({ minimum: 1, description: 'Version of the protocol that the agent chose.' }),
  proof: Type.Object({
    probeId: probeIdSchema,
    publicKey: Type.String({ pattern: PUBLIC_KEY_PATTERN }),
    counter: Type.Integer({ minimum: 1 }),
    signature: Type.String({ pattern: SIGNATURE_PATTERN }),
    token: Type.Optional(Type.String({ pattern: TOKEN_PATTERN })),
  }),
  instance: Type.String({ minLength: 1, maxLength: 64, description: 'Changes with every start of the agent.' }),
  release: Type.String({ maxLength: 64, description: 'Release of the agent.' }),
  credit: Type.Integer({ minimum: 1, maximum: 1000, description: 'Jobs at a time, screenshots not counted.' }),
  yields: Type.Optional(
    Type.Boolean({ description: 'True for one that was retired: it works only while no other instance is connected.' }),
  ),
  reports: Type.Optional(
    Type.Boolean({
      description:
        'True for one that was retired and has jobs under way: it reports them, and replaces no other instance.',
    }),
  ),
});

const { capabilities, degraded, draining } = heartbeatSchema.properties;

const status = Type.Object({
  t: Type.Literal('status'),
  status: Type.Object({ capabilities, degraded, draining }),
});

const askTime = Type.Object({ t: Type.Literal('time'), id: seq });

const result = Type.Object({
  t: Type.Literal('result'),
  seq,
  check: checkIdSchema,
  kind: Type.Enum([...entryKinds]),
  data: Type.String({ maxLength: MAX_RESULT_BYTES, description: 'JSON of the result, or of the screenshot report.' }),
  screenshot: Type.Optional(
    Type.Object(
      { upload: seq, bytes: Type.Integer({ minimum: 1, maximum: MAX_SCREENSHOT_BYTES }) },
      { description: 'Number and size of the upload whose pieces were sent before.' },
    ),
  ),
  traceparent,
});

const done = Type.Object({ t: Type.Literal('done'), job: jobId });

/** Messages of an agent. Unknown fields are ignored, so that later releases can add some. */
export const agentMessageSchemas = { hello, status, time: askTime, result, done } as const;

const challenge = Type.Object({
  t: Type.Literal('challenge'),
  versions: Type.Object({ oldest: Type.Integer({ minimum: 1 }), newest: Type.Integer({ minimum: 1 }) }),
  nonce: Type.String({ minLength: 16, maxLength: 128 }),
  origin: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'Origin that the gateway expects in the proof. Absent in 0.1.0.' }),
  ),
});

const welcome = Type.Object({
  t: Type.Literal('welcome'),
  v: Type.Integer({ minimum: 1 }),
  state: Type.Enum(['approved', 'waiting'], {
    description: 'waiting: for the approval of the operator; without jobs.',
  }),
  suspensions: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'How often the probe was suspended. Another number than in the last welcome ends the jobs under way.',
    }),
  ),
  returnOverMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description: 'Advice: agents that lose their gateway together return over this time.',
    }),
  ),
});

const approved = Type.Object({ t: Type.Literal('approved') });

const tellTime = Type.Object({
  t: Type.Literal('time'),
  id: seq,
  ms: Type.Number({ minimum: 0, description: 'Clock of Redis, milliseconds since the epoch.' }),
});

const job = Type.Object({
  t: Type.Literal('job'),
  id: jobId,
  name: Type.String({ maxLength: 64, description: 'Check type, or `screenshot`.' }),
  data: Type.String({ maxLength: 64 * 1024, description: 'JSON of the job.' }),
  timestamp: Type.Number({ description: 'When it was added, milliseconds since the epoch.' }),
});

const ack = Type.Object({ t: Type.Literal('ack'), seq });
const nack = Type.Object({ t: Type.Literal('nack'), seq });
const abandoned = Type.Object({ t: Type.Literal('abandoned'), job: jobId });
const retire = Type.Object({ t: Type.Literal('retire') });
const leave = Type.Object({
  t: Type.Literal('leave'),
  withinMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    description: 'Connect again at a random moment of this time.',
  }),
});

/** Messages of a gateway. Unknown ones, and unknown fields, are ignored. */
export const gatewayMessageSchemas = {
  challenge,
  welcome,
  approved,
  time: tellTime,
  job,
  ack,
  nack,
  abandoned,
  retire,
  leave,
} as const;

export type AgentHello = Static<typeof hello>;
export type AgentStatus = Static<typeof status>['status'];
export type AgentMessage =
  | AgentHello
  | Static<typeof status>
  | Static<typeof askTime>
  | Static<typeof result>
  | Static<typeof done>;
export type GatewayJob = Static<typeof job>;
export type GatewayWelcome = Static<typeof welcome>;
export type GatewayMessage =
  | Static<typeof challenge>
  | GatewayWelcome
  | Static<typeof approved>
  | Static<typeof tellTime>
  | GatewayJob
  | Static<typeof ack>
  | Static<typeof nack>
  | Static<typeof abandoned>
  | Static<typeof retire>
  | Static<typeof leave>;
