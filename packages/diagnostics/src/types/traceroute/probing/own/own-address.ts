import { interrupted, unlessAborted } from '../../../../sockets/provide-packets.ts';
import type { Trace } from '../trace-state.ts';

export interface OwnAddress {
  /** Source address at the start. */
  readonly source: string;
  /** False for packets that any source address may send: echo requests over IPv4. */
  readonly isBound: boolean;
  /** Resolves with the current one. */
  readonly caughtUp: () => Promise<string>;
}

/**
 * Ends a trace as interrupted if the target does not answer its last packets and the probe has another source address
 * now: packets are made for the address at the start, and with another one their checksums are wrong, or no answer comes
 * back.
 */
export async function noteNewAddress(
  trace: Trace,
  { source, isBound, caughtUp }: OwnAddress,
  signal: AbortSignal,
): Promise<void> {
  const isAnswered = trace.views.every(({ atEnd }) => atEnd.at(-1)?.answer?.kind === 'target');
  if (!isBound || trace.failure !== null || isAnswered) return;
  const now = await unlessAborted(caughtUp(), signal).catch(() => null);
  if (now === null || now === source) return;
  trace.failure = interrupted('The probe’s own address to the target changed during the trace.');
}
