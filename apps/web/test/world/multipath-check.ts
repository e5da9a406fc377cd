import { check, final } from './results.ts';

/** Nodes by name: hop, network, kind of balancing; names that begin with `*` do not answer. */
type Nodes = Readonly<Record<string, readonly [hop: number, asn: string, balances?: 'flow' | 'packet']>>;

const carrier: Nodes = {
  '198.51.100.20': [2, 'AS65536', 'flow'],
  '198.51.100.21': [3, 'AS65536'],
  '198.51.100.22': [3, 'AS65536'],
  '198.51.100.23': [4, 'AS65536'],
  '198.51.100.24': [4, 'AS65536'],
  '*1': [5, ''],
};
const delivery: Nodes = {
  '198.51.100.200': [5, 'AS65540', 'packet'],
  '192.0.2.1': [6, 'AS64510'],
  '192.0.2.2': [6, 'AS64510'],
  '192.0.2.80': [7, 'AS64510'],
};
const links = [
  '198.51.100.20 198.51.100.21 6 6',
  '198.51.100.20 198.51.100.22 7 7',
  '198.51.100.21 198.51.100.23 6 6',
  '198.51.100.22 198.51.100.24 6 6',
  '198.51.100.23 198.51.100.200 7 6',
  '198.51.100.24 *1 9 0',
  '198.51.100.200 192.0.2.1 11 11',
  '198.51.100.200 192.0.2.2 9 9',
  '192.0.2.1 192.0.2.80 6 6',
  '192.0.2.2 192.0.2.80 5 5',
];

/** All paths from two probes: one of a carrier's two paths is broken, and the target’s network balances per packet. */
export const multipathCheck = check('paths_AAAAAAAAAAAAAAAA', 'traceroute', 'www.example.com', {
  'fra-1': traceOf(0, '203.0.113.10'),
  'ber-1': traceOf(1, '203.0.113.14'),
});

function traceOf(index: number, own: string): Record<string, unknown> {
  const nodes: Nodes = { [own]: [1, 'AS64496'], ...carrier, ...delivery };
  const names = Object.keys(nodes);
  const rttOf = (hop: number): number => hop * 3 + index;
  const found = [`probe ${own} 2 2`, `${own} 198.51.100.20 6 6`, ...links].map((text) => {
    const [from = '', to = '', sent = '', received = ''] = text.split(' ');
    const rtt = received === '0' ? null : rttOf(nodes[to]![0]);
    const ends = { from: from === 'probe' ? null : names.indexOf(from), to: names.indexOf(to) };
    return { ...ends, flows: Number(sent), sent: Number(sent), received: Number(received), rttMin: rtt, rttAvg: rtt };
  });
  const hops = [1, 2, 3, 4, 5, 6, 7].map((hop) => {
    const here = names.filter((name) => nodes[name]![0] === hop && !name.startsWith('*'));
    const rtts = here.map(() => rttOf(hop));
    const responders = here.map((ip) => ({ ...routerOf(ip, nodes[ip]![1]), rtts: [rttOf(hop)] }));
    return { hop, ...responders[0]!, latency: rttOf(hop), rtts, responders, mpls: [], icmp: null };
  });
  const multipath = {
    complete: true,
    packets: 96,
    nodes: names.map((name) => ({
      hop: nodes[name]![0],
      kind: name.startsWith('*') ? 'silent' : name === '192.0.2.80' ? 'target' : 'router',
      ip: name.startsWith('*') ? null : name,
      private: false,
      balances: nodes[name]![2] ?? null,
      reaches: !['198.51.100.22', '198.51.100.24', '*1'].includes(name),
      ...(name === '198.51.100.24' ? { broken: true } : {}),
    })),
    links: found,
    paths: [
      ...Array.from({ length: 6 }, () => [0, 1, 2, 4, 7, null, 10]),
      ...Array.from({ length: 7 }, () => [0, 1, 3, 5, 6]),
    ],
  };
  const fullTtl = { rtts: [null, null, null, 21, null, null, null, 21], icmp: null };
  const state = { reached: true, stopReason: 'completed', protocol: 'udp', pathMtu: 1500, clock: 'kernel', loop: null };
  return final(index, rttOf(7), { hops, flows: [], ...state, echo: null, fullTtl, mtuBlackHole: null, multipath });
}

function routerOf(ip: string, asn: string): Record<string, unknown> {
  const named = { hostname: null, hostnameVerified: null, asn, asName: `Example Network ${asn.slice(2)}` };
  return { ip, private: false, ...named };
}
