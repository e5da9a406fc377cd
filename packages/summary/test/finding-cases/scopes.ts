import { bad, broken, each, pending, summaryOf } from '../cases.ts';
import { lost, ping, tcp, trace } from '../results.ts';
import type { FindingCases } from './case.ts';
import { ledCases } from './led.ts';
import { triedInTurn } from './tried-in-turn.ts';

const good = ping([20, 21, 22, 20]);
const asked = (address: string) => ({ ...good, resolvedIp: address });
const failed = (address: string) => ({ ...lost, resolvedIp: address });
const late = { result: 'timeout', source: 'probe', phase: 'dispatch' } as const;

const target = '203.0.113.1 9 9 9';
export const scopeCases: FindingCases = {
  down_everywhere: {
    present: [
      ['all fail', summaryOf('ping', each('fra-1 par-1', lost))],
      ['the only one that counts fails', summaryOf('ping', { 'fra-1': lost, 'par-1': broken('probe_offline') })],
    ],
    absent: [
      ['one of many answers', summaryOf('ping', { ...each('fra-1 ber-1 par-1', lost), 'nyc-1': good })],
      ['no probe could measure', summaryOf('ping', each('fra-1 par-1', broken('probe_offline')))],
      ['no probe has answered yet', summaryOf('ping', each('fra-1 par-1', pending))],
    ],
  },
  down_country: {
    present: [['all of Germany fail', summaryOf('ping', { ...each('fra-1 ber-1', lost), 'par-1': good })]],
    absent: [
      ['one of Germany answers', summaryOf('ping', { ...each('fra-1 ber-1', lost), 'muc-1': good, 'par-1': good })],
      ['one elsewhere fails too', summaryOf('ping', { ...each('fra-1 ber-1 nyc-1', lost), 'par-1': good })],
      [
        'no probe elsewhere counts',
        summaryOf('ping', { ...each('fra-1 ber-1', lost), 'par-1': broken('probe_offline') }),
      ],
      ['only one of the two in Germany counts', summaryOf('ping', { 'fra-1': lost, 'par-1': good })],
    ],
  },
  down_continent: {
    present: [['all of Europe fail', summaryOf('ping', { ...each('fra-1 par-1 lon-1', lost), 'nyc-1': good })]],
    absent: [
      ['all of them are in one country', summaryOf('ping', { ...each('fra-1 ber-1', lost), 'nyc-1': good })],
      ['one of Europe answers', summaryOf('ping', { ...each('fra-1 par-1', lost), 'lon-1': good, 'nyc-1': good })],
    ],
  },
  down_network: {
    present: [['all of AS64500 fail', summaryOf('ping', { ...each('fra-1 muc-1', lost), 'ber-1': good })]],
    absent: [
      ['one of AS64500 answers', summaryOf('ping', { ...each('fra-1 muc-1', lost), 'fra-2': good, 'ber-1': good })],
      ['one of another network fails too', summaryOf('ping', { ...each('fra-1 muc-1 par-1', lost), 'ber-1': good })],
    ],
  },
  down_address: {
    present: [
      [
        'all that asked one of two addresses fail',
        summaryOf('ping', { ...each('fra-1 nyc-1', failed('203.0.113.2')), 'ber-1': good, 'lax-1': good }),
      ],
      ...ledCases.ofOneAddress.present,
    ],
    absent: [
      [
        'one that asked it has an answer',
        summaryOf('ping', {
          ...each('fra-1 nyc-1', failed('203.0.113.2')),
          'ber-1': asked('203.0.113.2'),
          'lax-1': good,
        }),
      ],
      ['all asked the same', summaryOf('ping', { ...each('fra-1 nyc-1', lost), 'ber-1': good, 'lax-1': good })],
      ...triedInTurn.ofOneAddress,
      ...ledCases.ofOneAddress.absent,
    ],
  },
  down_family: {
    present: [
      [
        'all that used IPv6 fail',
        summaryOf('ping', { 'fra-1': failed('2001:db8::1'), 'nyc-1': failed('2001:db8::2'), 'ber-1': good }),
      ],
      ...ledCases.ofOneFamily.present,
    ],
    absent: [
      [
        'one that used IPv6 has an answer',
        summaryOf('ping', {
          ...each('fra-1 nyc-1', failed('2001:db8::1')),
          'lax-1': asked('2001:db8::1'),
          'ber-1': good,
        }),
      ],
      ...triedInTurn.ofOneFamily,
      ...ledCases.ofOneFamily.absent,
    ],
  },
  down_one_probe: {
    present: [['one of three fails', summaryOf('ping', { ...each('ber-1 par-1', good), 'fra-1': lost })]],
    absent: [
      ['two of three fail', summaryOf('ping', { ...each('ber-1 par-1', lost), 'fra-1': good })],
      ['one could not measure', summaryOf('ping', { ...each('ber-1 par-1', good), 'fra-1': broken('probe_offline') })],
      ['the only one fails', summaryOf('ping', { 'fra-1': lost })],
    ],
  },
  down_some: {
    present: [
      [
        'two fail that nothing joins',
        summaryOf('ping', { ...each('fra-1 nyc-1', lost), ...each('ber-1 lax-1', good) }),
      ],
    ],
    absent: [
      ['a country joins them', summaryOf('ping', { ...each('fra-1 ber-1', lost), ...each('par-1 nyc-1', good) })],
      ['one fails', summaryOf('ping', { 'fra-1': lost, ...each('ber-1 lax-1', good) })],
    ],
  },
  target_refused: {
    present: [['the policy of a probe refuses it', summaryOf('tcp', { 'fra-1': broken('target_refused_by_policy') })]],
    absent: [['the target refuses the connection', summaryOf('tcp', { 'fra-1': tcp('closed') })]],
  },
  probes_incapable: {
    present: [
      ['it has no raw sockets', summaryOf('ping', { 'fra-1': broken('capability_missing'), 'ber-1': good })],
      ['it has no IPv6', summaryOf('ping', { 'fra-1': broken('family_unavailable'), 'ber-1': good })],
    ],
    absent: [['it is offline', summaryOf('ping', { 'fra-1': broken('probe_offline'), 'ber-1': good })]],
  },
  probes_older: {
    present: [
      [
        'another one ran rounds',
        summaryOf('traceroute', { 'fra-1': trace([target], { rounds: 5 }), 'ber-1': trace([target]) }),
      ],
      [
        'another one searched all paths',
        summaryOf('traceroute', {
          'fra-1': trace([target], { multipath: { complete: true, packets: 1, nodes: [], links: [], paths: [] } }),
          'ber-1': trace([target]),
        }),
      ],
      [
        'another one sent a DSCP',
        summaryOf('traceroute', { 'fra-1': trace([target], { dscp: 46 }), 'ber-1': trace([target]) }),
      ],
      ['another ping had a DSCP', summaryOf('ping', { 'fra-1': ping([5], { dscp: 46 }), 'ber-1': ping([5]) })],
    ],
    absent: [
      ['none ran rounds', summaryOf('traceroute', { 'fra-1': trace([target]), 'ber-1': trace([target]) })],
      [
        'it could not begin',
        summaryOf('traceroute', { 'fra-1': trace([target], { rounds: 5 }), 'ber-1': broken('capability_missing') }),
      ],
      [
        'it is not done',
        summaryOf('traceroute', {
          'fra-1': trace([target], { rounds: 5 }),
          'ber-1': { ...trace([target]), result: 'pending' },
        }),
      ],
    ],
  },
  probes_offline: {
    present: [['it is offline', summaryOf('ping', { 'fra-1': broken('probe_offline'), 'ber-1': good })]],
    absent: [['it is too busy', summaryOf('ping', { 'fra-1': broken('probe_busy'), 'ber-1': good })]],
  },
  probes_unanswered: {
    present: [
      ['it did not report in time', summaryOf('ping', { 'fra-1': bad('probe_timeout', {}, late), 'ber-1': good })],
      ['it was cut short', summaryOf('ping', { 'fra-1': broken('probe_interrupted'), 'ber-1': good })],
      ['it was suspended', summaryOf('ping', { 'fra-1': broken('probe_suspended'), 'ber-1': good })],
      ['it was removed', summaryOf('ping', { 'fra-1': broken('probe_removed'), 'ber-1': good })],
      ['it may not measure the target so often', summaryOf('ping', { 'fra-1': broken('target_rate_limited') })],
    ],
    absent: [
      ['the target did not answer in time', summaryOf('ping', { 'fra-1': lost, 'ber-1': good })],
      ['it has not reported yet', summaryOf('ping', { 'fra-1': pending, 'ber-1': good })],
    ],
  },
  probes_faulty: {
    present: [['an internal fault', summaryOf('ping', { 'fra-1': broken('internal_error'), 'ber-1': good })]],
    absent: [
      ['it lacks a capability', summaryOf('ping', { 'fra-1': broken('capability_missing'), 'ber-1': good })],
      ['a fault of the target', summaryOf('tcp', { 'fra-1': tcp('closed') })],
    ],
  },
};
