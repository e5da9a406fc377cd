import type { FlowView } from '../probing/flow-view.ts';
import type { TracePacket } from '../probing/trace.ts';

/**
 * The packets of one hop, with answers that came from other hops replaced by null: errors of routers that refused a
 * packet on its way to a target that its flow reached. A router that also reported a packet of this hop as expired is
 * at this hop, so its errors stay.
 */
export function withOwnAnswers(packets: readonly TracePacket[], views: readonly FlowView[]): readonly TracePacket[] {
  const routers = new Set(packets.flatMap(({ answer }) => (answer?.kind === 'expired' ? [answer.from] : [])));
  return packets.map((packet) => {
    const { answer, flow } = packet;
    const isOwn = answer?.kind !== 'refused' || !views[flow]!.reached || routers.has(answer.from);
    return isOwn ? packet : { ...packet, answer: null };
  });
}
