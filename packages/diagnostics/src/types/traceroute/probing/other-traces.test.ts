import { expect, it } from '@jest/globals';

import type { PacketSockets } from '../../../sockets/packet-socket.ts';
import { joinTraces } from './other-traces.ts';

/** Resolves when the clock shows another time. */
async function laterOn(): Promise<void> {
  for (const nowMs = performance.now(); performance.now() === nowMs;) await new Promise(setImmediate);
}

it('a trace whose target was silent since it began is not answered by what another one has got before', async () => {
  const packets = {} as PacketSockets;
  const earlier = joinTraces(packets, 'icmp 192.0.2.1');
  earlier.noteAnswers(2);
  await laterOn();
  const later = joinTraces(packets, 'icmp 192.0.2.1');
  const elsewhere = joinTraces(packets, 'icmp 192.0.2.2');
  // Neither count is greater than the last one: no answer of the target has come, and an earlier one turned out to be a
  // filter's.
  for (const count of [2, 1]) earlier.noteAnswers(count);
  const before = later.areAnswered();
  earlier.noteAnswers(2);

  expect([before, later.areAnswered(), elsewhere.areAnswered()]).toEqual([false, true, false]);
});
