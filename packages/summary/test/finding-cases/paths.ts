import { bad, summaryOf, type Result } from '../cases.ts';
import { multipath, ping, trace } from '../results.ts';
import { limitedInGroups, lossyHops, lostInGroups } from '../spaced-groups.ts';
import type { FindingCases } from './case.ts';
import { backToBalancer, cut, flowsOf, inCircle, limitedTarget } from './flows.ts';
import { placeAt } from './place-at.ts';
import { circlesOfRounds } from './onward.ts';

const access = '198.51.100.1 1 1 1';
const transit = '192.0.2.1 5 5 5';
const target = '203.0.113.1 9 9 9';
const on = (path: readonly string[], fields: Parameters<typeof trace>[1] = {}) =>
  summaryOf('traceroute', { 'fra-1': trace(path, fields) });
const fullDatagrams = (arrives: boolean) =>
  on([access, target], { protocol: 'udp', fullSize: { bytes: 1_500, arrives } });
/** A search for all paths over two paths, one of which ends before the target. */
const all = (ways: readonly string[], marks: Parameters<typeof multipath>[1]) =>
  on([...balanced, '192.0.2.3 3 3', target], {
    fullTtl: { rtts: [null, null, null, null, null, null, 9, 9], icmp: null },
    multipath: multipath(
      [
        'probe > 192.0.2.1 2/2',
        '192.0.2.1 > 192.0.2.2 6/6',
        ...ways,
        '192.0.2.2 > 192.0.2.3 6/6',
        '192.0.2.3 > 203.0.113.1 6/6',
      ],
      marks,
    ),
  });
const deadWay = ['192.0.2.1 > 192.0.2.12 6/6', '192.0.2.12 > *1 0/9', '*1 > *2 0/6'];
const balanced = ['192.0.2.1 1 1 1', '192.0.2.2/192.0.2.12 2 2 2'];
const limited = { stopReason: 'hop_limit' as const, fullTtl: { rtts: [null, null, null], icmp: null } };
const near: Readonly<Record<string, Result<'ping'>>> = {
  'fra-1': ping([8]),
  'ber-1': ping([12]),
  'par-1': ping([14]),
  'lon-1': ping([18]),
};
const inFrankfurt = { placeOf: () => placeAt(50.11, 8.68) };
const looping = ['192.0.2.1 1', '192.0.2.2 2', '192.0.2.1 3', '192.0.2.2 4'];
const hole = { pathMtu: 1_300, mtuBlackHole: 1_301 };
export const pathCases: FindingCases = {
  latency_outlier: {
    present: [['distance does not explain it', summaryOf('ping', { ...near, 'muc-1': ping([280]) }, inFrankfurt)]],
    absent: [
      ['distance explains it', summaryOf('ping', { ...near, 'syd-1': ping([280]) }, inFrankfurt)],
      ['it is not much more', summaryOf('ping', { ...near, 'muc-1': ping([50]) }, inFrankfurt)],
      ['there are three', summaryOf('ping', { 'fra-1': ping([8]), 'ber-1': ping([12]), 'muc-1': ping([280]) })],
      ['one packet of several is slow', summaryOf('ping', { ...near, 'muc-1': ping([10, 280, 10]) }, inFrankfurt)],
    ],
  },
  place_contradicted: {
    present: [['both are nearer than light is fast', summaryOf('ping', { 'fra-1': ping([2]), 'nyc-1': ping([3]) })]],
    absent: [
      ['light is fast enough', summaryOf('ping', { 'fra-1': ping([2]), 'nyc-1': ping([90]) })],
      [
        'they measured two addresses',
        summaryOf('ping', { 'fra-1': ping([2]), 'nyc-1': { ...ping([3]), resolvedIp: '203.0.113.2' } }),
      ],
    ],
  },
  routing_loop: {
    present: [['routers in a circle', on(looping, { loop: { start: 1, length: 2 } })], ...circlesOfRounds.present],
    absent: [
      ...circlesOfRounds.absent,
      ['one router twice in a row', on(['192.0.2.1 1', '192.0.2.1 2', target])],
      ['nothing answers', on([access, '* * *'])],
    ],
  },
  path_refused: {
    present: [['a router forbids it', on([access, '192.0.2.2 5 !X'])]],
    absent: [
      ['a router says nothing', on([access, '* * *'])],
      ['the target is reached', on([access, transit, target])],
    ],
  },
  path_stops: {
    present: [['nothing answers beyond a hop', on([access, transit, '* * *', '* * *'])]],
    absent: [
      ['the target answers behind silent hops', on([access, '* * *', '* * *', target])],
      ['a router forbids it', on([access, '192.0.2.2 5 !X'])],
      ['it is not done yet', summaryOf('traceroute', { 'fra-1': { ...trace([access, '* * *']), result: 'pending' } })],
      [
        'the probe was cut short',
        summaryOf('traceroute', {
          'fra-1': bad(
            'probe_interrupted',
            { hops: trace([access, '* * *']).hops ?? [], reached: false },
            { result: 'error', source: 'probe', phase: 'exec' },
          ),
        }),
      ],
    ],
  },
  path_cut: {
    present: [['the last hop that was asked answered', on([access, transit], limited)]],
    absent: [
      ['hops beyond were asked and are silent', on([access, transit, '* * *'], limited)],
      ['the target is reached', on([access, transit, target], { stopReason: 'completed' })],
      ['a router forbids it', on([access, '192.0.2.2 5 !X'], { stopReason: 'unreachable' })],
    ],
  },
  flows_stop: {
    present: [
      [
        'one flow ends at another router',
        on([...balanced, '192.0.2.3 * 3 3', '203.0.113.1 9 * 9'], { flows: flowsOf('0 0 0 0', '0 1 - -', '0 0 0 0') }),
      ],
      ['a way of a balancer by flow is broken', all(deadWay, { '192.0.2.1': 'flow', '192.0.2.12': 'broken' })],
      [
        'a way is silent right behind the balancer',
        all(['192.0.2.1 > *1 0/9', '*1 > *2 0/6'], { '192.0.2.1': 'flow', '*1': 'broken' }),
      ],
      ['flows are silent beyond a router that all pass', cut('9 * 9 9 9 * 9 9', 12)],
      ['one flow goes round in a circle', inCircle('0 1 1 1 1', '0 0 0 0 0')],
      ['a way of a balancer by flow leads back to it', backToBalancer('flow')],
      ['a router refuses all packets of a way', all(['192.0.2.1 > !192.0.2.12 6/6'], { '192.0.2.1': 'flow' })],
    ],
    absent: [
      [
        'all flows reach the target',
        on([...balanced, '192.0.2.3 3 3 3', target], { flows: flowsOf('0 0 0 0', '0 1 0 0', '0 0 0 0') }),
      ],
      [
        'one flow was last seen where others pass',
        on([...balanced, '192.0.2.3 3 * 3', '203.0.113.1 9 * 9'], { flows: flowsOf('0 0 0 0', '0 0 - -', '0 1 0 0') }),
      ],
      ['other flows of its last router were last seen where the target is reached', limitedTarget],
      ['a way of a balancer by packet may lead back to it', backToBalancer('packet')],
      ['routers of the circle are at several hops', inCircle('0 1 1 1 1', '0 0 0 0 0', '0 1 1 0 0')],
      ['the last flows are silent, as with a limit', cut('9 9 9 9 9 9 * *', 12)],
      ['flows are silent beyond a router that all pass, and got few packets', cut('9 * 9 9 9 * 9 9', 4)],
      ['the agent did not prove it', all(deadWay, { '192.0.2.1': 'flow' })],
      ['the balancer chooses by packet', all(deadWay, { '192.0.2.1': 'packet', '192.0.2.12': 'broken' })],
      [
        'a router that refuses packets leads others to the target',
        all(['192.0.2.1 > !192.0.2.2 6/6'], { '192.0.2.1': 'flow' }),
      ],
      ['how it chooses is not known', all(deadWay, { '192.0.2.1': 'unknown', '192.0.2.12': 'broken' })],
      [
        'so few packets are lost by chance',
        all([deadWay[0]!, '192.0.2.12 > *1 0/2'], { '192.0.2.1': 'flow', '192.0.2.12': 'broken' }),
      ],
      [
        'a target that limits its ICMP errors is silent behind the last router of one flow',
        on([...balanced, '192.0.2.3/192.0.2.13 3 3 3', '203.0.113.1 9 * *'], {
          protocol: 'udp',
          flows: flowsOf('0 0 0 0', '0 1 1 -', '0 0 0 -'),
        }),
      ],
    ],
  },
  path_loss: {
    present: [['from a hop on', on(lossyHops, { spaced: lostInGroups })]],
    absent: [
      ['limits may explain it', on(lossyHops, { spaced: limitedInGroups })],
      ['at a hop before others that lose none', on([access, '192.0.2.1 5 * *', '192.0.2.2 6 6 6', target])],
      ['at the target alone', on([access, transit, '203.0.113.1 9 * *'])],
      ['the target is not reached', on([access, '192.0.2.1 5 * *', '* * *'])],
    ],
  },
  loss_at_target: {
    present: [
      ['the hop before it loses none', on([access, transit, '203.0.113.1 9 * *'])],
      ['packets in groups are lost', on([access, transit, target], { spaced: lostInGroups })],
    ],
    absent: [
      ['loss is proved from a hop on', on(lossyHops, { spaced: lostInGroups })],
      ['it loses none', on([access, transit, target])],
    ],
  },
  rate_limited_hop: {
    present: [['hops beyond lose none', on([access, '192.0.2.1 5 * *', '192.0.2.2 6 6 6', '192.0.2.3 6 6 6', target])]],
    absent: [
      ['the few packets beyond it may have come through by chance', on([access, '192.0.2.1 5 * *', target])],
      ['the target loses some too', on([access, '192.0.2.1 5 * *', '203.0.113.1 9 * *'])],
      ['a hop never answers', on([access, '* * *', target])],
      ['the target is not reached', on([access, '192.0.2.1 5 * *', '* * *'])],
    ],
  },
  path_mtu_black_hole: {
    present: [
      ['large packets vanish', on([access, target], hole)],
      ['packets of the trace that arrive are smaller', on([access, target], { mtuBlackHole: 1_301, size: 1_300 })],
      ['large datagrams vanish', fullDatagrams(false)],
    ],
    absent: [
      ['a router says what it carries', on([access, target], { pathMtu: 1_300, mtuBlackHole: null })],
      ['large datagrams arrive, and nothing else was measured', fullDatagrams(true)],
    ],
  },
  path_mtu_small: {
    present: [['1,499 bytes', on([access, target], { pathMtu: 1_499 })]],
    absent: [
      ['1,500 bytes', on([access, target], { pathMtu: 1_500 })],
      ['larger packets vanish, and no router reports it', on([access, target], hole)],
    ],
  },
};
