import type { Failure, Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import { portOf } from '../../../http-client/request.ts';
import { boundText } from '../../../shared/bounded-text.ts';
import { NOT_TLS } from '../../../shared/error-codes.ts';
import { connectPinned } from '../../../sockets/connect.ts';
import type { Offer } from '../../../tls/certificate/trust-store.ts';
import { isProhibitedByHttp2, notOffered, type Chosen } from '../../../tls/chromium-offer.ts';
import { handshakeBy } from '../../../tls/handshake/handshake-by.ts';
import { tlsHandshake } from '../../../tls/handshake/handshake.ts';
import { MAX_REASON_BYTES } from '../../../tls/chromium-schema.ts';
import type { Tls } from '../../../tls/schema.ts';
import type { Http } from '../types.ts';

/** A connection that answered a request over TLS. */
export interface Answered {
  /** Pinned to the address that answered. */
  readonly target: Target;
  readonly url: URL;
  readonly offer: Offer;
  readonly tls: Tls;
  readonly chosen: Chosen;
}

/** Longest time for the connections of `askAsChromium`, at most half of the remaining time; the least that may remain. */
const [MAX_MS, LEAST_REMAINING_MS] = [4_000, 500];
/** Most bytes to receive over these connections: the bytes counted for a check have room for no more. */
const MAX_BYTES = 32 * 1024;

/**
 * Finds out whether Chromium can connect to a server that chose something that Chromium does not offer, or a certificate
 * that Chromium refuses: it may agree to something else as well. Sends nothing to other servers, which are nearly all.
 *
 * @returns `tls` of the result; undefined if it does not change
 */
export async function askAsChromium(answered: Answered, context: DiagnosticContext<Http>): Promise<Tls | undefined> {
  const { tls, chosen } = answered;
  // Before TLS 1.2 there is no doubt, and the result has the version.
  if (!['TLSv1.2', 'TLSv1.3'].includes(tls.protocol)) return undefined;
  const others = notOffered(chosen, tls.cipher);
  const isProhibited = tls.alpn === 'h2' && isProhibitedByHttp2(chosen);
  // In TLS 1.2 a key of P-521 may sign with what Chromium offers.
  const hasFaultyLeaf = tls.chromiumFaults?.some(({ certificate }) => certificate === 0) === true;
  if (others.length === 0 && !isProhibited && !hasFaultyLeaf) return undefined;
  const remainingMs = context.remainingMs();
  if (context.signal.aborted || remainingMs < LEAST_REMAINING_MS) return undefined;

  const enough = new AbortController();
  const timeout = AbortSignal.timeout(Math.min(MAX_MS, Math.floor(remainingMs / 2)));
  const signal = AbortSignal.any([context.signal, timeout, enough.signal]);
  let bytes = 0;
  const handshakeWith: HandshakeWith = (offer) =>
    handshake(offer, answered, { ...context, signal }, (chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) enough.abort();
    });
  const made = await handshakeWith('of Chromium');
  if (made.failure === null) {
    if (made.tls.alpn === 'h2' && isProhibitedByHttp2(made.chosen)) return refused(tls, prohibited(made.tls));
    const { chromiumFaults, ...withoutFaults } = tls;
    const isOtherLeaf = made.tls.chain[0]?.fingerprint256 !== tls.chain[0]?.fingerprint256;
    // The faults are of a certificate that Chromium does not get.
    return chromiumFaults !== undefined && isOtherLeaf && made.tls.chromiumFaults === undefined
      ? withoutFaults
      : undefined;
  }
  // Without another choice, `chromiumFaults` says what Chromium refuses.
  if (others.length === 0 && !isProhibited) return undefined;
  if (!isRefusal(made) || !(await isRefusedAgain(answered.offer, handshakeWith))) return undefined;
  return refused(tls, others.length === 0 ? prohibited(tls) : disagreeing(others));
}

type Made = { readonly failure: Failure } | { readonly failure: null; readonly tls: Tls; readonly chosen: Chosen };

type HandshakeWith = (offer: Offer) => Promise<Made>;

async function handshake(
  offer: Offer,
  { target, url }: Answered,
  context: DiagnosticContext<Http>,
  onReceived: (chunk: Buffer) => void,
): Promise<Made> {
  const { signal } = context;
  const connected = await connectPinned(target, portOf(url), signal);
  if (connected.socket === null) return { failure: connected.failure };
  const options = { ...handshakeBy(undefined, target.host, context), alpn: ['h2', 'http/1.1'], offer };
  connected.socket.on('data', onReceived);
  const made = await tlsHandshake(connected.socket, options, signal);
  made.socket?.destroy();
  connected.socket.destroy();
  return made.socket === null
    ? { failure: made.failure }
    : { failure: null, tls: made.fields.tls, chosen: made.chosen };
}

/** True if the server ended the handshake, or OpenSSL did because of what the server sent in TLS. */
function isRefusal({ failure }: Made): boolean {
  return failure?.phase === 'tls' && failure.source === 'target' && failure.message !== NOT_TLS;
}

/**
 * Finds out whether a refusal is due to the offer. Limits of connections, and failing servers behind a balancer, refuse
 * handshakes of each offer. Servers in turn refuse them at regular distances: those of these six, with the request and
 * the first handshake, repeat at none.
 */
async function isRefusedAgain(usual: Offer, handshakeWith: HandshakeWith): Promise<boolean> {
  for (const offer of [usual, usual, 'of Chromium', 'of Chromium'] as const) {
    const made = await handshakeWith(offer);
    if (offer === 'of Chromium' ? !isRefusal(made) : made.failure !== null) return false;
  }
  return true;
}

function refused(tls: Tls, reason: string): Tls {
  return { ...tls, chromiumRefusal: boundText(reason, MAX_REASON_BYTES) };
}

function disagreeing(others: readonly string[]): string {
  return `The server chose ${others.join(' and ')}, which Chromium does not offer, and no handshake with what Chromium offers succeeded.`;
}

function prohibited({ cipher }: Tls): string {
  return `The server speaks HTTP/2 with the cipher suite ${cipher}, which HTTP/2 prohibits (RFC 9113 section 9.2.2), and so Chromium ends the connection.`;
}
