import { randomBytes } from 'node:crypto';

import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../diagnostic.ts';
import { errnoOf } from '../sockets/errno.ts';
import { awakeClock } from '../sockets/awake-clock.ts';
import type { PacketSocket } from '../sockets/packet-socket.ts';
import { addressBytes, addressText } from '../sockets/wire/address.ts';
import { readU16 } from '../sockets/wire/bytes.ts';
import { echoRequest, parseIcmp } from '../sockets/wire/icmp.ts';

const FIRST_BYTES = 1_500;
/** Each is as large as the router before said. */
export const MAX_MTU_PACKETS = 4;
/** No link carries less (RFC 791, RFC 8200 section 5). */
const SMALLEST = { 4: 68, 6: 1_280 } as const;
const ECHO_HEADER_BYTES = { 4: 28, 6: 48 } as const;
const WAIT_RTTS = 3;
const [MIN_WAIT_MS, MAX_WAIT_MS] = [250, 1_000];
/** The round-trip time becomes known while an answer is awaited. */
const LOOK_EVERY_MS = 25;
const RESERVE_MS = 500;
const TTL = 64;
/** Header of an echo request, and of its payload what proves whose it is. */
const [ECHO_BYTES, COOKIE_BYTES] = [8, 8];

type Answer =
  | { readonly kind: 'arrived' }
  | { readonly kind: 'silent' }
  /** The kernel refused it: nothing was sent. */
  | { readonly kind: 'unsent' }
  | { readonly kind: 'too-big'; readonly mtu: number };

export interface PathMtuLimits {
  /** What an answer of the target takes, as far as it is known by now. */
  readonly rttMs: () => number | null;
  /** What the check may send beside the trace. */
  readonly maxPackets: number;
}

/**
 * Finds the MTU of a path by echo requests that no router may fragment, as large as Ethernet carries and then as large
 * as each router that refuses says (RFC 1191, RFC 8201). What the probe's own link does not carry costs no packet, so
 * that its MTU is found byte by byte. Null where the target does not answer them.
 *
 * @param opening an ICMP socket of the target's family, closed in the end
 */
export async function findPathMtu(
  opening: Promise<PacketSocket>,
  target: Target,
  { rttMs, maxPackets }: PathMtuLimits,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<number | null> {
  const waitMs = (): number => Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (rttMs() ?? Infinity) * WAIT_RTTS));
  let socket: PacketSocket | undefined;
  try {
    socket = await opening;
    let bytes = FIRST_BYTES;
    let attempt = 1;
    while (attempt <= Math.min(MAX_MTU_PACKETS, maxPackets) && !signal.aborted) {
      if (remainingMs() < waitMs() + RESERVE_MS) return null;
      const answer = await tryBytes(socket, target, attempt, bytes, waitMs, signal);
      if (answer.kind === 'arrived') return bytes;
      if (answer.kind === 'silent') return null;
      const next = answer.kind === 'unsent' ? bytes - 1 : answer.mtu;
      if (next >= bytes || next < SMALLEST[target.family]) return null;
      bytes = next;
      attempt += answer.kind === 'unsent' ? 0 : 1;
    }
    return null;
  } catch {
    // The kernel refused what it should not, or the packet process died: nothing was learnt.
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
  waitMs: () => number,
  signal: AbortSignal,
): Promise<Answer> {
  const payload = randomBytes(bytes - ECHO_HEADER_BYTES[family]);
  const request = echoRequest(family, socket.identifier, sequence, payload);
  const destination = addressText(addressBytes(address));
  return new Promise((resolve, reject) => {
    const clock = awakeClock();
    let awaitedMs = clock.now();
    const giveUp = (): void => settle({ kind: 'silent' });
    const timer = setInterval(() => clock.now() - awaitedMs >= waitMs() && giveUp(), LOOK_EVERY_MS);
    const settle = (answer: Answer): void => {
      end();
      resolve(answer);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const end = (): void => {
      clearInterval(timer);
      clock.stop();
      signal.removeEventListener('abort', giveUp);
    };
    signal.addEventListener('abort', giveUp);
    socket.onPacket((received) => {
      const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
      if (message === undefined || !message.intact) return;
      if (message.kind === 'echo-reply') {
        if (Buffer.compare(message.payload, payload) === 0) settle({ kind: 'arrived' });
        return;
      }
      const { quoted } = message;
      if (message.kind === 'too-big' && quoted.destination === destination && isQuotationOf(request, quoted.payload)) {
        settle({ kind: 'too-big', mtu: message.mtu });
      }
    });
    socket.onLost(fail);
    socket.send(request, address, TTL).then(
      () => void (awaitedMs = clock.now()),
      (error: unknown) => (errnoOf(error) === 'EMSGSIZE' ? settle({ kind: 'unsent' }) : fail(error)),
    );
  });
}

/** Whether what a router quotes is of the packet: header, and of the random payload as much as there is. */
function isQuotationOf(request: Uint8Array, quoted: Uint8Array): boolean {
  if (quoted.length < ECHO_BYTES) return false;
  // The sender of ICMPv6 leaves the checksum to the kernel.
  const isKnown = readU16(request, 2) === 0 || readU16(request, 2) === readU16(quoted, 2);
  const start = quoted.subarray(4, ECHO_BYTES + COOKIE_BYTES);
  const isPadded = quoted.subarray(ECHO_BYTES, ECHO_BYTES + COOKIE_BYTES).every((byte) => byte === 0);
  const compared = isPadded ? start.subarray(0, ECHO_BYTES - 4) : start;
  return isKnown && compared.every((byte, at) => byte === request[4 + at]);
}
