import type { PacketSockets } from '../../../sockets/packet-socket.ts';

/** State shared by this probe's concurrent traces to one target. */
interface Shared {
  running: number;
  answeredMs: number;
}

const shared = new WeakMap<PacketSockets, Map<string, Shared>>();

export interface OtherTraces {
  /** Notes how many packets of this trace the target has answered so far. */
  readonly noteAnswers: (count: number) => void;
  /**
   * True if the target has answered any of these traces since this one began: then a rate limit may explain silence.
   */
  readonly areAnswered: () => boolean;
  readonly leave: () => void;
}

/**
 * Joins the traces that run over the same packet sockets.
 *
 * @param target equal for traces whose packets the target treats alike
 */
export function joinTraces(packets: PacketSockets, target: string): OtherTraces {
  const byTarget = shared.get(packets) ?? new Map<string, Shared>();
  shared.set(packets, byTarget);
  const own = byTarget.get(target) ?? { running: 0, answeredMs: -Infinity };
  byTarget.set(target, own);
  own.running += 1;
  const startedMs = performance.now();
  let noted = 0;
  return {
    noteAnswers: (count) => {
      if (count > noted) own.answeredMs = performance.now();
      noted = count;
    },
    areAnswered: () => own.answeredMs >= startedMs,
    leave: () => {
      own.running -= 1;
      if (own.running === 0) byTarget.delete(target);
    },
  };
}
