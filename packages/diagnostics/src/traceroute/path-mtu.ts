import { randomBytes } from 'node:crypto';

import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../diagnostic.ts';
import type { PacketSocket, PacketSockets } from '../sockets/packet-socket.ts';
import { readU16 } from '../sockets/wire/bytes.ts';
import { echoRequest, parseIcmp } from '../sockets/wire/icmp.ts';

const FIRST_BYTES = 1_500;
const MAX_ATTEMPTS = 4;
/** No link carries less (RFC 791, RFC 8200 section 5). */
const SMALLEST = { 4: 68, 6: 1_280 } as const;
const ECHO_HEADER_BYTES = { 4: 28, 6: 48 } as const;
const WAIT_RTTS = 3;
const [MIN_WAIT_MS, MAX_WAIT_MS] = [250, 1_000];
const RESERVE_MS = 500;
const TTL = 64;

type Answer =
  | { readonly kind: 'arrived' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'too-big'; readonly mtu: number };

/**
 * Finds the MTU of a path by echo requests that no router may fragment, as large as Ethernet carries and then as large
 * as each router that refuses says (RFC 1191, RFC 8201). Null where the target does not answer them.
 *
 * @param rttMs what an answer of the target takes
 */
export async function findPathMtu(
  packets: PacketSockets,
  target: Target,
  rttMs: number,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<number | null> {
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, rttMs * WAIT_RTTS));
  let socket: PacketSocket | undefined;
  try {
    socket = await packets.open({ family: target.family, protocol: 'icmp' });
    let bytes = FIRST_BYTES;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && !signal.aborted; attempt += 1) {
      if (remainingMs() < waitMs + RESERVE_MS) return null;
      const answer = await tryBytes(socket, target, attempt, bytes, waitMs);
      if (answer.kind === 'arrived') return bytes;
      if (answer.kind === 'silent' || answer.mtu >= bytes || answer.mtu < SMALLEST[target.family]) return null;
      bytes = answer.mtu;
    }
    return null;
  } catch {
    // The first link carries less than Ethernet, or the packet process died: nothing was learnt.
    return null;
  } finally {
    socket?.close();
  }
}

function tryBytes(
  socket: PacketSocket,
  { family, address }: Target,
  sequence: number,
  bytes: number,
  waitMs: number,
): Promise<Answer> {
  const payload = randomBytes(bytes - ECHO_HEADER_BYTES[family]);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve({ kind: 'silent' }), waitMs);
    const settle = (answer: Answer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    socket.onPacket((received) => {
      const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
      if (message === undefined || !message.intact) return;
      if (message.kind === 'echo-reply') {
        if (Buffer.compare(message.payload, payload) === 0) settle({ kind: 'arrived' });
        return;
      }
      const { payload: quoted } = message.quoted;
      if (message.kind === 'too-big' && quoted.length >= 8 && readU16(quoted, 6) === sequence) {
        settle({ kind: 'too-big', mtu: message.mtu });
      }
    });
    socket.onLost(reject);
    socket.send(echoRequest(family, socket.identifier, sequence, payload), address, TTL).catch((error: unknown) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
