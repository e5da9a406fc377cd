import { createTrustStore, type PacketSockets, type Surroundings } from '@vantage/diagnostics';

import type { MeasuringConfig } from './config.ts';
import { createNetworkLimit, limitNetworks } from './network-limit.ts';
import type { AgentParts } from './parts.ts';

/** @param wrapPackets wraps the packet sockets */
export function lend(
  config: MeasuringConfig,
  parts: AgentParts,
  version: string,
  wrapPackets: (sockets: PacketSockets) => PacketSockets = (sockets) => sockets,
): (cost: number) => Surroundings {
  const contact = config.contact === undefined ? '' : ` (+${config.contact})`;
  // Created once: the trust store costs several times as much as an https check.
  const trust = createTrustStore(parts.certificateAuthorities);
  const networkLimit = createNetworkLimit(config.networkLimit);
  return (cost) => ({
    admit: limitNetworks(parts.admit, networkLimit, { cost }),
    names: parts.names,
    get resolvers() {
      return parts.resolvers();
    },
    packets: lentPackets(parts.packets(), wrapPackets),
    isPrivateAddress: parts.isPrivateAddress,
    certificateAuthorities: parts.certificateAuthorities,
    trust,
    receiveWindow: parts.receiveWindow,
    showPrivateAddresses: config.showPrivateAddresses,
    attribution: { userAgent: `Vantage/${version}${contact}`, payloadTag: `vantage${contact}` },
  });
}

function lentPackets(
  packets: ReturnType<AgentParts['packets']>,
  wrap: (sockets: PacketSockets) => PacketSockets,
): ReturnType<AgentParts['packets']> {
  return 'unavailable' in packets ? packets : wrap(packets);
}
