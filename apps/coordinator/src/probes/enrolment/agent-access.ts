export type AgentState = 'invited' | 'waiting' | 'approved' | 'suspended';

/** State of an agent that connects to gateways: the value of a field of `redisKeys.agentAccess`. */
export interface AgentAccess {
  /** `none` if the probe was never invited or was removed. */
  readonly state: AgentState | 'none';
  /** Fingerprint of the enrolled key; null before the first enrolment. */
  readonly key: string | null;
  /** How often the agent was suspended: shows a suspension that has ended, too. */
  readonly suspensions: number;
  /** Why the agent is suspended. */
  readonly reason: string | null;
  /** Time and counter at which a copy of the key was noticed. */
  readonly copied: { readonly at: number; readonly counter: number } | null;
  /** Why a gateway refuses the agent, such as a release that is too old. */
  readonly refusal: string | null;
}

export const NO_ACCESS: AgentAccess = {
  state: 'none',
  key: null,
  suspensions: 0,
  reason: null,
  copied: null,
  refusal: null,
};

/** Parses data that only coordinators and operator commands write. */
export function readAccess(json: string | null | undefined): AgentAccess {
  return json === null || json === undefined ? NO_ACCESS : { ...NO_ACCESS, ...(JSON.parse(json) as AgentAccess) };
}

/** A fault of the agent's enrolment that affects the probe, as a sentence; undefined if there is none. */
export function accessFault(probe: string, { state, copied, refusal }: AgentAccess): string | undefined {
  if (state === 'waiting') return `Its agent waits for approval: probe:approve ${probe}.`;
  if (copied !== null) {
    const at = new Date(copied.at).toISOString();
    return `The key of its agent was used in two places, noticed at ${at}: probe:invite ${probe} makes another one.`;
  }
  return refusal ?? undefined;
}
