import { interrupted } from '../../../sockets/provide-packets.ts';
import type { Trace } from './trace-state.ts';

/**
 * Ends a trace as interrupted if the target does not answer its last packets and the probe has another source address
 * now: packets are made for the address at the start, and with another one their checksums are wrong, or no answer comes
 * back.
 */
export async function noteNewAddress(trace: Trace, source: string, sourceNow: () => Promise<string>): Promise<void> {
  const isAnswered = trace.views.every(({ atEnd }) => atEnd.at(-1)?.answer?.kind === 'target');
  if (trace.failure !== null || isAnswered) return;
  const now = await sourceNow().catch(() => source);
  if (now === source) return;
  trace.failure = interrupted('The probe’s own address to the target changed during the trace.');
}
