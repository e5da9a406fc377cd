import type { PacketSocket, PacketSocketOptions, PacketSockets } from '@vantage/diagnostics';

import type { AgentMetrics } from './agent-metrics.ts';

/** Wraps the sockets so that the metrics count their packets. */
export function countPackets(sockets: PacketSockets, metrics: AgentMetrics): PacketSockets {
  return {
    sourceFor: sockets.sourceFor,
    open: async (options) => counted(await sockets.open(options), options, metrics),
  };
}

function counted(
  socket: PacketSocket,
  { protocol, family }: PacketSocketOptions,
  { instruments: { packetsSent, packetsRefused, packetsReceived } }: AgentMetrics,
): PacketSocket {
  const labels = { protocol, family: String(family) };
  return {
    ...socket,
    send: async (packet, destination, ttl, label) => {
      try {
        const sentMs = await socket.send(packet, destination, ttl, label);
        packetsSent.inc(labels);
        return sentMs;
      } catch (error) {
        packetsRefused.inc(labels);
        throw error;
      }
    },
    onPacket: (listener) =>
      socket.onPacket((packet) => {
        packetsReceived.inc({ ...labels, protocol: packet.protocol });
        listener(packet);
      }),
  };
}
