import { bad, each, summaryOf } from '../cases.ts';
import { lost, ping, tcp, trace, udp } from '../results.ts';
import type { FindingCases } from './case.ts';

const good = ping([20, 21, 22, 20]);
const packetFrom = (from: string) => ({ seq: 1, rtt: 20, ttl: 60, from, duplicate: false });
const path = ['192.0.2.1 5', '203.0.113.1 9'];
const notice = { type: 3, code: 13, from: '192.0.2.1', private: false };

/** Cases of findings about ports, packets and their replies. */
export const answerCases: FindingCases = {
  port_closed: {
    present: [
      ['it refuses', summaryOf('tcp', { 'fra-1': tcp('closed') })],
      ['a trace is answered by resets alone', summaryOf('traceroute', { 'fra-1': trace(path, { state: 'closed' }) })],
    ],
    absent: [
      ['a SYN of a trace was accepted', summaryOf('traceroute', { 'fra-1': trace(path, { state: 'open' }) })],
      ['nothing comes back', summaryOf('tcp', { 'fra-1': tcp('filtered') })],
      ['nothing comes back over UDP', summaryOf('udp', { 'fra-1': udp('open|filtered') })],
    ],
  },
  port_filtered: {
    present: [['nothing comes back', summaryOf('tcp', { 'fra-1': tcp('filtered') })]],
    absent: [
      ['it refuses', summaryOf('tcp', { 'fra-1': tcp('closed') })],
      ['two of three handshakes fail', summaryOf('tcp', { 'fra-1': tcp('open', [20, null, null]) })],
    ],
  },
  port_states_differ: {
    present: [
      ['open and closed', summaryOf('tcp', { 'fra-1': tcp('open'), 'ber-1': tcp('closed') })],
      ['open and closed over UDP', summaryOf('udp', { 'fra-1': udp('open'), 'ber-1': udp('closed') })],
    ],
    absent: [
      ['all are closed', summaryOf('tcp', each('fra-1 ber-1', tcp('closed')))],
      [
        'open and silent: a silent port may be open',
        summaryOf('udp', { 'fra-1': udp('open'), 'ber-1': udp('open|filtered') }),
      ],
      [
        'closed and silent: a host that limits its ICMP errors sends them to some probes only',
        summaryOf('udp', { 'fra-1': udp('closed'), 'ber-1': udp('open|filtered') }),
      ],
    ],
  },
  udp_no_answer: {
    present: [['nothing comes back', summaryOf('udp', { 'fra-1': udp('open|filtered') })]],
    absent: [
      ['an ICMP error comes back', summaryOf('udp', { 'fra-1': udp('closed') })],
      ['nothing comes back over TCP', summaryOf('tcp', { 'fra-1': tcp('filtered') })],
    ],
  },
  icmp_refused: {
    present: [['a router says so', summaryOf('udp', { 'fra-1': udp('unreachable', { icmp: notice }) })]],
    absent: [
      ['nothing came back', summaryOf('udp', { 'fra-1': udp('open|filtered') })],
      ['the target itself resets', summaryOf('tcp', { 'fra-1': tcp('closed') })],
    ],
  },
  handshakes_lost: {
    present: [
      ['one of three', summaryOf('tcp', { 'fra-1': tcp('open', [20, null, 21]) })],
      ['one took a second longer', summaryOf('tcp', { 'fra-1': tcp('open', [1_020, 20, 21]) })],
      [
        'the probe was held up for much less than the wait for an answer',
        summaryOf('tcp', { 'fra-1': { ...tcp('open', [20, null, 21]), stalled: 150 } }),
      ],
    ],
    absent: [
      ['all of them', summaryOf('tcp', { 'fra-1': tcp('filtered', [null, null, null]) })],
      ['none', summaryOf('tcp', { 'fra-1': tcp('open', [20, 21, 22]) })],
      ['each took more than a second', summaryOf('tcp', { 'fra-1': tcp('open', [1_020, 1_021, 1_300]) })],
      ['one took less than a second longer', summaryOf('tcp', { 'fra-1': tcp('open', [900, 20, 21]) })],
      [
        'one took a second longer, and the probe stood still',
        summaryOf('tcp', { 'fra-1': { ...tcp('open', [1_020, 20, 21]), stalled: 1_000 } }),
      ],
      [
        'the probe stood still meanwhile',
        summaryOf('tcp', { 'fra-1': { ...tcp('open', [20, null, 21]), stalled: 4_000 } }),
      ],
    ],
  },
  packet_loss: {
    present: [
      ['one of four', summaryOf('ping', { 'fra-1': ping([20, null, 20, 20]) })],
      [
        'all of a large size, and no ordinary ones',
        summaryOf('ping', { 'fra-1': ping([null, null], { size: 1_400, ordinary: { sent: 3, received: 3 } }) }),
      ],
    ],
    absent: [
      ['all', summaryOf('ping', { 'fra-1': lost })],
      [
        'all of a large size, and all ordinary ones',
        summaryOf('ping', { 'fra-1': ping([null, null], { size: 1_400, ordinary: { sent: 3, received: 0 } }) }),
      ],
      [
        'none, and one reply came twice',
        summaryOf('ping', { 'fra-1': { ...good, anomalies: { duplicates: 1, late: 0, reordered: 0, corrupted: 0 } } }),
      ],
      ['not all are sent yet', summaryOf('ping', { 'fra-1': { ...ping([20, 20, null]), result: 'pending' } })],
      [
        'the probe was cut short',
        summaryOf('ping', {
          'fra-1': bad(
            'probe_interrupted',
            { pingCount: 4, pingCompleted: 2 },
            { result: 'error', source: 'probe', phase: 'exec' },
          ),
        }),
      ],
    ],
  },
  jitter_high: {
    present: [['round trips that jump', summaryOf('ping', { 'fra-1': ping([20, 90, 25, 80]) })]],
    absent: [
      [
        'long round trips that differ by less than a quarter',
        summaryOf('ping', { 'fra-1': ping([300, 350, 300, 350]) }),
      ],
      ['short round trips that differ by little', summaryOf('ping', { 'fra-1': ping([1, 15, 1, 15]) })],
      ['one slow reply, the first', summaryOf('ping', { 'fra-1': ping([200, 10, 11, 10]) })],
      ['two replies', summaryOf('ping', { 'fra-1': ping([20, 90]) })],
    ],
  },
  replies_odd: {
    present: [
      [
        'an answer from another address',
        summaryOf('ping', { 'fra-1': ping([20], { packets: [packetFrom('198.51.100.1')] }) }),
      ],
      [
        'a trace that another address completes',
        summaryOf('traceroute', {
          'fra-1': trace(['198.51.100.1 4', '198.51.100.9 9'], { reached: true, answeredFrom: ['198.51.100.9'] }),
        }),
      ],
      [
        'a reply twice',
        summaryOf('ping', { 'fra-1': { ...good, anomalies: { duplicates: 1, late: 0, reordered: 0, corrupted: 0 } } }),
      ],
    ],
    absent: [
      [
        'each once',
        summaryOf('ping', { 'fra-1': { ...good, anomalies: { duplicates: 0, late: 0, reordered: 0, corrupted: 0 } } }),
      ],
      ['one is missing', summaryOf('ping', { 'fra-1': ping([20, null, 20]) })],
      [
        'an ICMP error comes from another address',
        summaryOf('ping', {
          'fra-1': ping([20, 20], {
            packets: [packetFrom('203.0.113.1'), { ...packetFrom('198.51.100.1'), rtt: null }],
          }),
        }),
      ],
    ],
  },
};
