import { netlabMissing } from '../../netlab/netlab.ts';
import type { Figure } from '../goals.ts';
import { findPeers, type Peers } from '../packets/peers.ts';
import { namesWhereAlarmsPart } from './alarms.ts';
import { findsPathChanges } from './changes.ts';
import { agreesWithMtr } from './mtr.ts';
import { agreesOnMtu } from './mtu.ts';
import { findsAllModelled } from './multipath/model.ts';
import { findsAllPaths } from './multipath/multipath.ts';

interface Part {
  readonly description: string;
  readonly run: (peers: Peers) => Promise<readonly Figure[]>;
}

/** Parts of the benchmark, by name. */
const parts: Readonly<Record<string, Part>> = {
  model: { description: 'the search for all paths without sockets: 1,000 runs of each shape', run: findsAllModelled },
  scamper: {
    description: 'all paths compared with scamper’s tracelb over networks of the same shapes',
    run: (peers) => {
      const scamper = peers.path('scamper');
      if (scamper === undefined) throw new Error('scamper is missing: apt-get install scamper');
      return findsAllPaths(scamper);
    },
  },
  mtu: { description: 'path MTUs compared with traceroute --mtu and tracepath', run: agreesOnMtu },
  mtr: { description: 'rounds compared with mtr', run: agreesWithMtr },
  changes: { description: 'changes of paths over load balancers: 10,000 runs', run: findsPathChanges },
  alarms: { description: 'traces of a monitor that turns bad, over built routes', run: namesWhereAlarmsPart },
};

export const pathParts = Object.keys(parts);

/**
 * Paths compared with other programs and with built networks.
 *
 * @param part one of `pathParts`; all by default
 */
export async function paths(part: string | undefined): Promise<readonly Figure[]> {
  const missing = netlabMissing();
  if (missing !== null) throw new Error(missing);
  if (part !== undefined && !Object.hasOwn(parts, part)) {
    const known = Object.entries(parts).map(([name, { description }]) => `\n  ${name}: ${description}`);
    throw new Error(`unknown part "${part}"; expected one of${known.join('')}`);
  }
  const peers = findPeers();
  try {
    const figures: Figure[] = [];
    for (const name of part === undefined ? pathParts : [part]) figures.push(...(await parts[name]!.run(peers)));
    return figures;
  } finally {
    peers.remove();
  }
}
