import { netlabMissing } from '../../netlab/netlab.ts';
import type { Figure } from '../goals.ts';
import { findPeers } from '../packets/peers.ts';
import { agreesWithMtr } from './mtr.ts';
import { agreesOnMtu } from './mtu.ts';
import { findsAllModelled } from './multipath/model.ts';
import { findsAllPaths } from './multipath/multipath.ts';

/** All paths compared with scamper, path MTUs with traceroute and tracepath, paths over time with mtr. */
export async function paths(): Promise<readonly Figure[]> {
  const missing = netlabMissing();
  if (missing !== null) throw new Error(missing);
  const peers = findPeers();
  try {
    const scamper = peers.path('scamper');
    if (scamper === undefined) throw new Error('scamper is missing: apt-get install scamper');
    return [
      ...(await findsAllModelled()),
      ...(await findsAllPaths(scamper)),
      ...(await agreesOnMtu(peers)),
      ...(await agreesWithMtr()),
    ];
  } finally {
    peers.remove();
  }
}
