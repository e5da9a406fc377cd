import type { FlowView } from '../probing/flow-view.ts';
import type { TracePacket } from '../probing/trace.ts';

/**
 * The packets of a hop without answers that are not the hop's own: errors of routers that refused a packet on its way to a
 * target that answered other packets of its flow. A router whose packets expire at the hop is there, so its errors count.
 */
export function withOwnAnswers(packets: readonly TracePacket[], views: readonly FlowView[]): readonly TracePacket[] {
  const routers = new Set(packets.flatMap(({ answer }) => (answer?.kind === 'expired' ? [answer.from] : [])));
  return packets.map((packet) => {
    const { answer, flow } = packet;
    const isOwn = answer?.kind !== 'refused' || !views[flow]!.reached || routers.has(answer.from);
    return isOwn ? packet : { ...packet, answer: null };
  });
}
