import { startCheckRunner, type CheckRunner } from '../../netlab/check-runner.ts';
import { createNetlab, netlabMissing, type Netlab } from '../../netlab/netlab.ts';
import type { Figure } from '../goals.ts';
import { cpuPerCheck, wrongMatches } from './many.ts';
import { hopsFound, pathTimes } from './paths.ts';
import { findPeers } from './peers.ts';
import { roundTripErrors } from './round-trips.ts';

/** Ping and traceroute compared with common tools over paths of a known network. */
export async function packets(): Promise<readonly Figure[]> {
  const missing = netlabMissing();
  if (missing !== null) throw new Error(missing);
  const peers = findPeers();
  process.stdout.write(`peers: ${peers.report}\n`);
  const lab = await createNetlab();
  const idle = startCheckRunner(lab);
  try {
    const stages = [
      () => wrongMatches(idle),
      () => roundTripErrors(lab, peers, idle, 'idle'),
      () => whileBusy(lab, (busy) => roundTripErrors(lab, peers, busy, 'busy')),
      () => hopsFound(lab, peers, idle),
      () => pathTimes(lab, peers, idle),
      () => cpuPerCheck(lab, peers, idle),
    ];
    const figures: Figure[] = [];
    for (const stage of stages) figures.push(...(await stage()));
    return figures;
  } finally {
    await idle.stop();
    lab.remove();
    peers.remove();
  }
}

/** Measures with an agent that is busy with other work for half of the time. */
async function whileBusy<T>(lab: Netlab, measure: (runner: CheckRunner) => Promise<T>): Promise<T> {
  const busy = startCheckRunner(lab, 0.5);
  try {
    return await measure(busy);
  } finally {
    await busy.stop();
  }
}
