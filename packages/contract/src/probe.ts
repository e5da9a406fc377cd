import { addressSchema, asnSchema, nullable, probeIdSchema, timestampSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

const latitude = nullable(Type.Number({ minimum: -90, maximum: 90, description: 'Degrees.' }));
const longitude = nullable(Type.Number({ minimum: -180, maximum: 180, description: 'Degrees.' }));
const tag = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$', maxLength: 63 });
const name = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

const identity = {
  name: name('Display name of the probe.'),
  datacenter: name('Location name.'),
  countryCode: Type.String({ pattern: '^[A-Z]{2}$', maxLength: 2, description: 'Two-letter country code.' }),
  isp: name('Network provider name.'),
  asNumber: asnSchema,
  city: nullable(name('City.')),
  latitude,
  longitude,
  tags: Type.Array(tag, { maxItems: 32, uniqueItems: true, description: 'Tags that `locations` can name.' }),
};

/** The operator's record of a probe; its agent cannot change it. */
export const probeRecordSchema = Type.Object(
  { id: probeIdSchema, ...identity },
  { additionalProperties: false, title: 'Probe record' },
);

const capabilityFields = {
  types: Type.Array(Type.String({ maxLength: 32 }), { maxItems: 64, description: 'Check types it can run.' }),
  ipv4: Type.Boolean(),
  ipv6: Type.Boolean(),
  screenshot: Type.Boolean(),
};

const capabilities = Type.Object(capabilityFields, {
  additionalProperties: false,
  description: 'What the agent claims to be able to do.',
});

const loadFields = {
  running: Type.Integer({ minimum: 0, description: 'Running jobs.' }),
  capacity: Type.Integer({ minimum: 1, description: 'Maximum number of running jobs.' }),
};

const load = Type.Object(loadFields, { additionalProperties: false, description: 'How busy the agent says it is.' });

/**
 * Heartbeat, written by the agent or by its gateway when it changes, and again while it does not change. Its content is
 * the agent's claim, except what a gateway adds. Unknown fields are allowed, since an agent may run a later release
 * than its coordinators.
 */
export const heartbeatSchema = Type.Object({
  v: Type.Literal(1),
  version: Type.String({ maxLength: 64 }),
  /** Changes with every start of the agent. */
  instance: Type.String({ maxLength: 64 }),
  capabilities: Type.Object(capabilityFields),
  /** Reasons for a degraded state, such as a missing capability, a failed self-test or an unstable connection. */
  degraded: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16 }),
  load: Type.Object(loadFields),
  /**
   * Jobs taken since the start: an agent with free slots, waiting jobs and an unchanged count seems stuck. Absent in
   * earlier releases.
   */
  taken: Type.Optional(Type.Integer({ minimum: 0 })),
  /** True once the agent shuts down: it takes no new jobs after `LAST_JOBS_MS`. */
  draining: Type.Boolean(),
  /**
   * True if its agent announces every change except those of the running jobs and `taken`: then coordinators read it
   * seldom.
   */
  announced: Type.Optional(Type.Boolean()),
  /**
   * The heartbeat of an agent at a gateway: it is alive while `redisKeys.gateway(id)` exists. Absent for other agents.
   */
  gateway: Type.Optional(
    Type.Object({
      id: Type.String({ maxLength: 64 }),
      /** Fingerprint of the agent's key. */
      key: Type.String({ maxLength: 64 }),
      /** Grows with each connection of that key: a gateway never replaces the heartbeat of a newer connection. */
      counter: Type.Integer({ minimum: 0 }),
    }),
  ),
});

export const probeStatuses = ['healthy', 'degraded', 'offline'] as const;

/** One entry of `GET /probes`. */
export const probeSchema = Type.Object(
  {
    ...identity,
    status: Type.Enum([...probeStatuses], {
      description: 'healthy; degraded (answers, but `reason`); offline (no heartbeat for 15 s).',
    }),
    reason: nullable(Type.String({ maxLength: 1024, description: 'Why the probe is not healthy.' })),
    version: nullable(Type.String({ maxLength: 64, description: 'Release of the agent, as it says.' })),
    capabilities: nullable(capabilities),
    lastSeen: nullable(timestampSchema),
    load: nullable(load),
    offers: Type.Optional(
      Type.Array(addressSchema, {
        minItems: 1,
        maxItems: 2,
        description:
          'Its addresses, at most one of each family, that its operator offers to other probes (`between`). Absent without one.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Probe' },
);

export const probesSchema = Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), probeSchema, {
  additionalProperties: false,
  title: 'Probes',
  description: 'Object keyed by probe identifier.',
});

export const agentTransports = ['gateway', 'redis'] as const;
export const agentStates = ['connected', 'offline', 'invited', 'waiting', 'suspended', 'copied', 'refused'] as const;

/** One entry of `GET /probes/agents`. */
export const agentSchema = Type.Object(
  {
    transport: nullable(
      Type.Enum([...agentTransports], { description: 'How it gets its jobs; null before its first connection.' }),
    ),
    version: nullable(Type.String({ maxLength: 64, description: 'Release of the agent, as it says.' })),
    state: Type.Enum([...agentStates], {
      description:
        'connected; offline; invited (never enrolled); waiting (for the approval of the operator); suspended; copied (its key ' +
        'was used in two places); refused (see `reason`).',
    }),
    reason: nullable(Type.String({ maxLength: 1024, description: 'Why it is in this state.' })),
  },
  { additionalProperties: false, title: 'Agent' },
);

export const agentsSchema = Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }), agentSchema, {
  additionalProperties: false,
  title: 'Agents',
  description: 'Object keyed by probe identifier.',
});

export type Agent = Static<typeof agentSchema>;
export type Agents = Readonly<Record<string, Agent>>;
export type ProbeRecord = Static<typeof probeRecordSchema>;
export type Heartbeat = Static<typeof heartbeatSchema>;
export type Probe = Static<typeof probeSchema>;
export type Probes = Readonly<Record<string, Probe>>;
export type ProbeStatus = Probe['status'];
