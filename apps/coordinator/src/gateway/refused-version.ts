import { escapeText, gatewayVersions, type AgentHello } from '@vantage/contract';

/**
 * The reason for which an agent cannot be served, for its operator, and the supported protocol version nearest to the
 * agent's.
 */
export interface RefusedVersion {
  readonly why: string;
  readonly nearest: number;
}

/** Why the gateway cannot serve the agent; undefined if it speaks the agent's version. */
export function refusedVersion(
  { v, release }: Pick<AgentHello, 'v' | 'release'>,
  { oldest, newest }: { readonly oldest: number; readonly newest: number } = gatewayVersions,
): RefusedVersion | undefined {
  if (v >= oldest && v <= newest) return undefined;
  const said = `Its agent (release ${escapeText(release, 64)}) speaks version ${v} of the gateway's protocol;`;
  if (v < oldest)
    return { why: `${said} version ${oldest} is the oldest that works: upgrade the agent.`, nearest: oldest };
  const why = `${said} the gateway is older and speaks version ${newest} at most: upgrade the service.`;
  return { why, nearest: newest };
}
