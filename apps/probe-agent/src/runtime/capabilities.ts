import type { Heartbeat } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import type { Connectivity } from './connectivity.ts';
import type { ScreenshotOffer } from './screenshot-offer.ts';

/** Per family, null if raw sockets can be opened, else the reason. */
export interface RawSockets {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

export interface Ability {
  readonly capabilities: Heartbeat['capabilities'];
  /** Why the probe is degraded; empty if it is not. */
  readonly degraded: readonly string[];
}

/**
 * Types that run without raw sockets, but then cannot read ICMP errors. This is reported only if a configured type that
 * needs raw sockets cannot run.
 */
const readsIcmpErrors: ReadonlySet<CheckTypeName> = new Set(['dns', 'http', 'tcp', 'udp']);

/** Derives the probe's capabilities from its configuration and the machine. */
export function abilityOf(
  configured: readonly CheckTypeName[],
  { ipv4, ipv6 }: Connectivity,
  rawSockets: RawSockets,
  screenshots: Pick<ScreenshotOffer, 'isOffered' | 'degraded'>,
): Ability {
  // Only families with an address need raw sockets; without any, the reason of IPv4 counts.
  const reasons = [ipv4 || !ipv6 ? rawSockets.ipv4 : null, ipv6 ? rawSockets.ipv6 : null];
  const hasRawSockets = [ipv4 && rawSockets.ipv4 === null, ipv6 && rawSockets.ipv6 === null].includes(true);
  const missing = configured.filter((type) => checkTypes[type].needsRawSockets && !hasRawSockets);
  // Undefined if raw sockets can be opened: a machine without an address then reports only the missing address.
  const reason = reasons.find((text) => text !== null);
  const blinded = configured.filter((type) => !checkTypes[type].needsRawSockets && readsIcmpErrors.has(type));
  return {
    capabilities: {
      types: configured.filter((type) => !missing.includes(type)),
      ipv4,
      ipv6,
      screenshot: screenshots.isOffered(),
    },
    degraded: [
      ...(reason === undefined ? [] : missing.map((type) => `${type}: ${reason}`)),
      ...(reason === undefined || missing.length === 0 || blinded.length === 0
        ? []
        : [`${blinded.join(', ')}: ICMP errors cannot be read`]),
      ...[screenshots.degraded()].filter((text) => text !== null),
      ...(ipv4 || ipv6 ? [] : ['The machine has no address with a default route.']),
    ],
  };
}
