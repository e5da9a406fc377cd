import { isIP } from 'node:net';

import type { Family } from '@vantage/contract';

import { errnoError } from './errno.ts';
import { Identifiers } from './identifiers.ts';
import type { Request } from './channel/messages.ts';
import { isBoundPort } from './bound-ports.ts';
import type { PacketProcessOptions } from './packet-child.ts';
import { PacketLink, type PacketProcessStatus } from './packet-link.ts';
import {
  MAX_PACKET_BYTES,
  type PacketProtocol,
  type PacketSocket,
  type PacketSocketOptions,
  type PacketSockets,
  type ReceivedPacket,
} from './packet-socket.ts';
import { isPacketProcessLost, privilegeText } from './privilege.ts';
import { ListeningTimes, recallWithSlack } from './channel/recall.ts';

/** Availability of raw sockets by family: null, or the reason why there are none. */
export interface PacketPrivilege {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

export interface PacketProcess extends PacketSockets {
  /** Opens and closes a raw ICMP socket of each family. Never rejects. For the agent's self-test. */
  readonly probePrivilege: () => Promise<PacketPrivilege>;
  /** Whether the packet process runs now, and why it last ended if it does not. Starts nothing. */
  readonly status: () => PacketProcessStatus;
  /** Ends the packet process; all open sockets are lost. */
  readonly close: () => Promise<void>;
}

interface Listeners {
  packet: (packet: ReceivedPacket) => void;
  lost: (error: Error) => void;
}

/** The agent's side of the packet process, which is started on first use, and again after a crash. */
export function createPacketSockets(options: PacketProcessOptions = {}): PacketProcess {
  const sockets = new OpenSockets(options);
  const { link } = sockets;

  /**
   * Repeats an action if the packet process ended during it: its end does not mean that the probe has no raw sockets.
   */
  const twice = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (link.closed || !isPacketProcessLost(error)) throw error;
      return act();
    }
  };
  const open: PacketSockets['open'] = (wanted) => twice(() => sockets.open(wanted));
  const probeFamily = async (family: Family): Promise<string | null> => {
    try {
      const socket = await open({ family, protocol: 'icmp' });
      socket.close();
      return null;
    } catch (error) {
      return privilegeText(error);
    }
  };

  return {
    open,
    sourceFor: (destination) => twice(() => link.sourceFor(destination)),
    close: () => link.close(),
    probePrivilege: async () => ({ ipv4: await probeFamily(4), ipv6: await probeFamily(6) }),
    status: () => link.status,
  };
}

/** The sockets that are open in the packet process, and the identifiers that they hold. */
class OpenSockets {
  readonly link: PacketLink;
  private readonly sockets = new Map<number, Listeners>();
  private readonly identifiers = new Identifiers((family, identifiers) =>
    this.link.tell({ op: 'expect', family, identifiers }),
  );
  /** Families whose ICMP descriptor the packet process keeps: another ICMP socket for one of them awaits no answer. */
  private readonly listening = new ListeningTimes();

  constructor(options: PacketProcessOptions) {
    this.link = new PacketLink(options, {
      onPacket: (ref, packet) => this.sockets.get(ref)?.packet(packet),
      onLost: (error) => this.lose(error),
    });
  }

  async open(wanted: PacketSocketOptions): Promise<PacketSocket> {
    const calledMs = performance.now();
    if (await isBoundToOther(wanted)) throw errnoError('EADDRINUSE', 'The port belongs to another socket.');
    await this.link.ready();
    const { family, protocol, errorsOnly } = wanted;
    const identifier = wanted.identifier ?? this.identifiers.draw(wanted);
    const ref = this.link.nextNumber();
    const release = this.identifiers.hold(wanted, identifier);
    const early: ReceivedPacket[] = [];
    const listeners: Listeners = { packet: (packet) => early.push(packet), lost: () => undefined };
    this.sockets.set(ref, listeners);
    const common = { ref, family, protocol, identifier } as const;
    const recallMs = errorsOnly?.recallMs ?? 0;
    const isKnown = protocol === 'icmp' && errorsOnly === undefined && this.listening.has(family);
    const request: Request =
      errorsOnly === undefined
        ? { op: 'open', ...common, isAwaited: !isKnown }
        : { op: 'watch', ...common, recallMs: recallWithSlack(recallMs) };
    const errno = isKnown ? this.tell(request) : await this.ask(ref, request);
    if (errno !== '') {
      release();
      this.sockets.delete(ref);
      throw errnoError(errno, `No raw socket for ${protocol} over IPv${family}.`);
    }
    if (this.sockets.has(ref)) this.listening.note(family);
    return {
      identifier,
      isRecallPartial: recallMs > 0 && this.listening.isPartial(family, calledMs - recallMs),
      send: (...sent) => this.send(ref, ...sent),
      close: () => {
        if (this.sockets.has(ref)) release();
        this.close(ref, protocol);
      },
      onPacket: (listener) => {
        listeners.packet = listener;
        for (const packet of early.splice(0)) listener(packet);
      },
      onLost: (listener) => void (listeners.lost = listener),
    };
  }

  /** @returns the errno, empty on success */
  private async ask(ref: number, request: Request): Promise<string> {
    const answer = await this.link.ask(ref, ref, request);
    return answer.op === 'opened' ? answer.errno : 'EPROTO';
  }

  private tell(request: Request): string {
    this.link.tell(request);
    return '';
  }

  private async send(
    ref: number,
    ...[packet, destination, ttl, { label, dscp = 0 } = {}]: Parameters<PacketSocket['send']>
  ): Promise<number> {
    if (!isSendable(packet, destination, ttl, dscp)) throw new RangeError('A packet that cannot be sent.');
    if (!this.sockets.has(ref)) throw this.link.failure ?? errnoError('EBADF', 'The packet socket is closed.');
    const token = this.link.nextNumber();
    const request: Request = { op: 'send', ref, token, ttl, destination, label: label ?? null, dscp, packet };
    const sent = await this.link.ask(ref, token, request);
    if (sent.op !== 'sent') throw errnoError('EPROTO', 'An answer of another kind.');
    if (sent.errno !== '') throw errnoError(sent.errno, 'The kernel did not send the packet.');
    return sent.sentMs;
  }

  /** Sockets of UDP and TCP are closed at once: their descriptors may receive all such packets of the machine. */
  private close(ref: number, protocol: PacketProtocol): void {
    if (!this.sockets.delete(ref)) return;
    if (protocol === 'icmp') this.link.tellSoon({ op: 'close', ref });
    else this.link.tell({ op: 'close', ref });
    this.link.abandon(ref);
  }

  private lose(error: Error): void {
    const open = [...this.sockets.values()];
    this.sockets.clear();
    this.identifiers.clear();
    this.listening.clear();
    for (const listeners of open) listeners.lost(error);
  }
}

/** The packet process exits on an invalid message, which would end all sockets. */
function isSendable(packet: Uint8Array, destination: string, ttl: number, dscp: number): boolean {
  const isHeader = Number.isInteger(ttl) && ttl >= 1 && ttl <= 255 && Number.isInteger(dscp) && dscp >= 0 && dscp <= 63;
  return packet.length <= MAX_PACKET_BYTES && isIP(destination) !== 0 && isHeader;
}

/**
 * True if the requested port to send from belongs to a socket of the kernel. False for a watch, which receives errors
 * about such a socket and sends nothing.
 */
async function isBoundToOther({ protocol, identifier, errorsOnly }: PacketSocketOptions): Promise<boolean> {
  return (
    protocol !== 'icmp' && identifier !== undefined && errorsOnly === undefined && isBoundPort(protocol, identifier)
  );
}
