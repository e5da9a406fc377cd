import { randomInt } from 'node:crypto';

import type { Failure, Target } from '@vantage/contract';

import { openPackets, unlessAborted } from '../../../sockets/provide-packets.ts';
import type { PacketSocket, PacketSockets } from '../../../sockets/packet-socket.ts';
import { unsentFailure } from '../../../sockets/unsent.ts';
import { portOf } from '../contract.ts';
import type { TraceOptions } from '../trace-options.ts';
import { traceFlow } from './flow.ts';
import type { ProbeLoopFlow } from './plan.ts';

type Opening = Awaited<ReturnType<typeof openPackets>>;

export interface OpenFlows {
  readonly flows: readonly ProbeLoopFlow[];
  /** The source address that their packets are made for. */
  readonly source: string;
}

/** Opens a socket for each flow. Waits for a hung packet process only until the signal aborts. */
export async function openFlows(
  options: Pick<TraceOptions, 'protocol' | 'port' | 'sourcePort' | 'size' | 'dscp'>,
  { address, family }: Target,
  packets: PacketSockets,
  tag: string,
  signal: AbortSignal,
  count: number,
): Promise<OpenFlows | { readonly failure: Failure }> {
  const { protocol, sourcePort, size, dscp } = options;
  const sockets: PacketSocket[] = [];
  const giveUp = (failure: Failure): { readonly failure: Failure } => {
    for (const socket of sockets) socket.close();
    return { failure };
  };
  const source = packets.sourceFor(address);
  // The source address is awaited only after the sockets have opened: this marks an earlier rejection as handled.
  source.catch(() => undefined);
  while (sockets.length < count) {
    const identifier = sourcePort === undefined ? undefined : sourcePort + sockets.length;
    const opening = openPackets(packets, { family, protocol, identifier });
    const opened = await unlessAborted(opening, signal);
    if (opened === null) {
      void closeLate(opening);
      return giveUp(hanging());
    }
    if ('failure' in opened) return giveUp(opened.failure);
    sockets.push(opened.socket);
  }
  try {
    const known = await unlessAborted(source, signal);
    if (known === null) return giveUp(hanging());
    const common = { protocol, family, source: known, destination: address, port: portOf(options) };
    const filled = { ...common, tag, bytes: size };
    const flows = sockets.map((socket) => ({
      socket,
      flow: traceFlow({ ...filled, identifier: socket.identifier }),
      header: { dscp, label: family === 6 ? { label: randomInt(1, 0x10_0000), source: known } : undefined },
    }));
    return { flows, source: known };
  } catch (error) {
    return giveUp(unsentFailure(error));
  }
}

async function closeLate(opening: Promise<Opening>): Promise<void> {
  const opened = await opening;
  if ('socket' in opened) opened.socket.close();
}

function hanging(): Failure {
  const message = 'The packet process did not answer before the end of the check.';
  return { code: 'probe_interrupted', phase: 'exec', source: 'probe', message };
}
