import { createTrustStore, type PacketSockets, type ProbeContext } from '@vantage/diagnostics';

import type { MeasuringConfig } from '../config/config.ts';
import { createNetworkLimit, limitNetworks } from './network-limit.ts';
import type { ProbeRuntime } from './runtime.ts';

/** @returns a function that creates the context of a run by its cost */
export function createProbeContext(
  config: MeasuringConfig,
  runtime: ProbeRuntime,
  version: string,
  wrapPackets: (sockets: PacketSockets) => PacketSockets = (sockets) => sockets,
): (cost: number) => ProbeContext {
  const contact = config.contact === undefined ? '' : ` (+${config.contact})`;
  // Created once, because it takes much time.
  const trust = createTrustStore(runtime.certificateAuthorities);
  const networkLimit = createNetworkLimit(config.networkLimit);
  return (cost) => ({
    admit: limitNetworks(runtime.admit, networkLimit, { cost }),
    names: runtime.names,
    resolvers: runtime.resolvers(),
    packets: wrappedPackets(runtime.packets(), wrapPackets),
    isPrivateAddress: runtime.isPrivateAddress,
    certificateAuthorities: runtime.certificateAuthorities,
    trust,
    receiveWindow: runtime.receiveWindow,
    showPrivateAddresses: config.showPrivateAddresses,
    attribution: { userAgent: `Vantage/${version}${contact}`, payloadTag: `vantage${contact}` },
  });
}

function wrappedPackets(
  packets: ReturnType<ProbeRuntime['packets']>,
  wrap: (sockets: PacketSockets) => PacketSockets,
): ReturnType<ProbeRuntime['packets']> {
  return 'unavailable' in packets ? packets : wrap(packets);
}
