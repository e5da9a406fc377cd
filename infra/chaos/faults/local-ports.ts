import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { release } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Deployment } from '../deployment.ts';
import { anyCoordinator, pickAgent, type Fault } from './fault.ts';

/**
 * Duration of the fault at its full scale, longer than two heartbeats, and than an agent caches its own addresses (5
 * s).
 */
const LASTS_MS = 12_000;
/** Linux 6.3, the first with IP_LOCAL_PORT_RANGE, as 100 × major + minor. */
const BOUND_SINCE = 603;

/** No local port is left for new sockets, those of checks and of connections to the service. */
export const localPorts: readonly Fault[] = [
  {
    name: 'the local ports of an agent are used up',
    impossible: boundImpossible,
    inject: async (scene) => {
      const { observer, random, scale } = scene;
      const { host, link, line } = pickAgent(scene);
      const free = await takePort();
      host?.leavePort(free.port);
      // In about half of the runs the agent loses its connection, and cannot open another one.
      if (random() < 0.5) (link ?? line)?.cut();
      await observer.burst(anyCoordinator(scene), 4);
      await sleep(LASTS_MS * scale);
      host?.leavePort(0);
      free.close();
    },
  },
];

function boundImpossible({ agents }: Deployment): string | undefined {
  if (agents[0]!.host === undefined) return 'a bound on local ports needs a C compiler';
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major * 100 + minor < BOUND_SINCE ? 'a bound on local ports needs Linux 6.3' : undefined;
}

interface TakenPort {
  readonly port: number;
  readonly close: () => void;
}

/**
 * Takes the port that is left to the agent, for TCP and UDP. The kernel chooses the port, because it would ignore a
 * bound outside of its range of local ports.
 */
async function takePort(): Promise<TakenPort> {
  const tcp = createServer().listen(0, '0.0.0.0');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4').bind(port, '0.0.0.0');
  const close = (): void => {
    tcp.close();
    udp.close();
  };
  try {
    await once(udp, 'listening');
    return { port, close };
  } catch {
    // Another socket has the UDP port: tries again.
    close();
    return takePort();
  }
}
