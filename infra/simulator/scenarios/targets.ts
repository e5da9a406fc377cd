import { router, routers, type Scenario, type Truth } from '../scenario.ts';

const down = [{ code: 'down_everywhere' }] as const;
const deaf: Truth = {
  finds: [{ code: 'path_stops', hop: 5 }, ...down],
  verdicts: ['down'],
  pathMtu: null,
  pingFinds: down,
  pingVerdicts: ['down'],
};

/** The truth about a target that answers echo requests, but not the packets of the trace. */
const echoAlone: Truth = { finds: [{ code: 'path_cut' }], verdicts: ['degraded'], pathMtu: null };

/** As Linux over IPv4, here for both families: one error per second to each address, after a burst of six. */
const linuxLimit = { perSecond: 1, burst: 6 };
/** Packets over the rate limit are not lost, but indistinguishable from lost ones. */
const limited: Truth = { may: ['loss_at_target'] };

export const targets: readonly Scenario[] = [
  { name: 'deaf', path: routers(5), target: { echo: 'none', udp: 'none', tcp: 'none' }, truth: deaf },
  { name: 'noecho', path: routers(5), target: { echo: 'none' }, checks: ['icmp', 'ping'], truth: deaf },
  { name: 'noechoopen', path: routers(5), target: { echo: 'none' }, checks: ['udp', 'tcp'], truth: { pathMtu: null } },
  { name: 'noudp', path: routers(5), target: { udp: 'none' }, checks: ['udp'], truth: echoAlone },
  { name: 'notcp', path: routers(5), target: { tcp: 'none' }, checks: ['tcp'], truth: echoAlone },
  { name: 'closed', path: routers(5), target: { tcp: 'closed' }, checks: ['tcp'], truth: { may: ['port_closed'] } },
  { name: 'udpreply', path: routers(5), target: { udp: 'reply' }, checks: ['udp'] },
  { name: 'udpreplyfar', path: routers(5), target: { udp: 'reply', delayMs: 150 }, checks: ['udp'] },
  { name: 'udplimit', path: routers(5), target: { limit: linuxLimit }, checks: ['udp'], truth: limited },
  {
    name: 'udplimitf8',
    path: routers(5),
    target: { limit: linuxLimit },
    checks: ['udp'],
    options: { flows: 8, maxHops: 12 },
    truth: limited,
  },
  {
    name: 'udplimitf4',
    path: routers(7),
    target: { limit: linuxLimit },
    checks: ['udp'],
    options: { flows: 4 },
    truth: limited,
  },
  ...[32, 128, 255].map((ttl) => ({ name: `ttl${ttl}`, path: routers(5), target: { ttl } })),
  { name: 'ttlshort', path: routers(10), target: { ttl: 12 } },
  // Its answers start with the remaining TTL, so they arrive only for probes with twice its distance (traceroute(8)).
  {
    name: 'copiesttl',
    path: routers(5),
    target: { copiesTtl: true },
    checks: ['icmp', 'udp', 'tcp'],
    truth: { pathMtu: 1_500, isUnsteady: true, may: ['loss_at_target'] },
  },
  {
    name: 'elsewhere',
    path: routers(5),
    target: { from: 'elsewhere' },
    checks: ['icmp', 'ping'],
    truth: { may: ['path_stops', 'replies_odd'], pingMay: ['replies_odd'] },
  },
  { name: 'echocode', path: routers(5), target: { echoCode: 5 }, checks: ['icmp', 'ping'] },
  { name: 'neighbour', path: [router()], target: { delayMs: 0.2 } },
  { name: 'manyqueries', path: routers(6), options: { queries: 10 } },
  { name: 'onequery', path: routers(6), options: { queries: 1 } },
  { name: 'manyflows', path: routers(6), options: { flows: 16, queries: 1 } },
];
