import type { FindingCode } from '../../../packages/contract/src/index.ts';
import { router, routers, type Router, type Scenario, type Truth } from '../scenario.ts';

/** All routers of the path except the first have these properties. */
const all = (name: string, more: Router, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  path: [router(), ...routers(4, more)],
  ...rest,
});

/** Scenarios whose routers quote a changed packet, with the finding about it except for UDP. */
const quotedOtherwise = (
  name: string,
  more: Router,
  finds: FindingCode,
  rest: Partial<Scenario> = {},
): readonly Scenario[] => [
  all(name, more, { checks: ['icmp', 'tcp', 'ping'], truth: { finds: [{ code: finds }] }, ...rest }),
  // With UDP, the target answers with a quotation, too, which shows the packet unchanged.
  all(`${name}udp`, more, { ...rest, checks: ['udp'] }),
];

const quotations: readonly Scenario[] = [
  all('quote28', { quote: 28 }, { families: [4] }),
  all('quote48', { quote: 48 }, { families: [6] }),
  all('quote64', { quote: 64 }),
  all('quote128', { quote: 128 }),
  all('quote548', { quote: 548 }),
  all('mpls1', { labels: [16_001] }),
  all('mpls3', { labels: [16_001, 24_123, 3] }),
  all('mpls8', { labels: [16, 17, 18, 19, 20, 21, 22, 23] }),
  ...quotedOtherwise('natsource', { quoteChanged: ['source'] }, 'path_translated'),
  ...quotedOtherwise('natsource8', { quoteChanged: ['source'], quote: 28 }, 'path_translated', { families: [4] }),
  ...quotedOtherwise('natck', { quoteChanged: ['source', 'checksum'] }, 'path_translated'),
  ...quotedOtherwise('natck8', { quoteChanged: ['source', 'checksum'], quote: 28 }, 'path_translated', {
    families: [4],
  }),
  // A TCP segment carries no payload that marks it: with another destination it may be that of another program.
  ...quotedOtherwise('natdestination', { quoteChanged: ['destination'], quote: 128 }, 'path_translated', {
    checks: ['icmp'],
  }),
  all('quotedlength', { quoteChanged: ['length'] }),
  ...quotedOtherwise('quotedservice', { quoteChanged: ['service'] }, 'dscp_changed'),
];

const addresses: readonly Scenario[] = [
  all('private', { from: 'private' }),
  all('privatehidden', { from: 'private' }, { hide: true }),
  { name: 'privatemiddle', path: [...routers(2), ...routers(2, { from: 'private' }), ...routers(2)] },
  { name: 'privatemiddlehidden', path: [...routers(2), ...routers(2, { from: 'private' }), ...routers(2)], hide: true },
  {
    name: 'privatestarthidden',
    path: [router({ from: 'private' }), router({ from: 'private' }), ...routers(3)],
    hide: true,
  },
  { name: 'twoaddresses', path: [...routers(2), router({ from: 'two' }), ...routers(3)] },
  { name: 'twoaddressesall', path: [router(), ...routers(5, { from: 'two' })] },
  { name: 'astarget', path: [...routers(4), router({ from: 'target' })] },
  { name: 'astargetearly', path: [...routers(2), router({ from: 'target' }), ...routers(2)] },
  { name: 'asbefore', path: [...routers(3), router({ from: 'before' }), ...routers(2)] },
  { name: 'zerottl', path: [...routers(2), router({ zeroTtl: true }), ...routers(3)] },
  { name: 'zerottllast', path: [...routers(4), router({ zeroTtl: true })] },
  {
    name: 'zerottltwice',
    path: [...routers(2), router({ zeroTtl: true }), router(), router({ zeroTtl: true }), ...routers(2)],
  },
];

const odd = { pingMay: ['replies_odd'] } as const;
const copies: readonly Scenario[] = [
  all('duplicates', { duplicates: 1 }),
  all('duplicates4', { duplicates: 4 }),
  { name: 'targetduplicates', path: routers(5), target: { duplicates: 1 }, truth: odd },
  { name: 'targetduplicates5', path: routers(5), target: { duplicates: 5 }, truth: odd },
  {
    name: 'reorder',
    path: routers(5),
    target: { answerDelayOfMs: { 1: 500, 3: 700 } },
    truth: { pathMtu: null, pingMay: ['replies_odd', 'jitter_high'], pingVerdicts: ['up', 'degraded'] },
  },
  {
    name: 'late',
    path: routers(5),
    target: { answerDelayOfMs: { 2: 4_400 } },
    pingOptions: { count: 8, interval: 700 },
    checks: ['ping'],
    truth: {
      pingFinds: [{ code: 'packet_loss' }],
      pingMay: ['replies_odd'],
      pingVerdicts: ['degraded'],
    },
  },
  {
    name: 'routerlate',
    path: [...routers(2), router({ answerDelayOfMs: { 1: 1_500 } }), ...routers(3)],
    truth: { may: ['rate_limited_hop'] },
  },
];

/** Packets that must not count as answers leave the hop silent. */
const garbage = (['checksum', 'empty', 'foreign', 'noise'] as const).flatMap((broken) => [
  { name: `broken${broken}`, path: [...routers(2), router({ broken }), ...routers(3)] },
  { name: `broken${broken}3`, path: [...routers(2), ...routers(3, { broken }), ...routers(2)] },
]);
const damaged: Truth = { pingFinds: [{ code: 'replies_odd' }], pingVerdicts: ['degraded'] };
const unanswered: Truth = { pingFinds: [{ code: 'down_everywhere' }], pingVerdicts: ['down'] };
/** Raw sockets get IPv4 replies with a wrong checksum; the kernel drops those of IPv6. */
const replies: readonly Scenario[] = (
  [
    ['badreplychecksum', 'checksum', 4, damaged],
    ['badreplychecksum6', 'checksum', 6, unanswered],
    ['badreplypayload', 'payload', 4, damaged],
    ['badreplypayload6', 'payload', 6, damaged],
  ] as const
).map(([name, broken, family, truth]) => ({
  name,
  path: routers(4),
  target: { broken },
  families: [family],
  checks: ['ping'],
  truth,
}));

export const oddities: readonly Scenario[] = [...quotations, ...addresses, ...copies, ...garbage, ...replies];
