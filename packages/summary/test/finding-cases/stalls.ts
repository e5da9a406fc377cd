import { bad, broken, summaryOf } from '../cases.ts';
import { http, lost, ping } from '../results.ts';
import type { FindingCases } from './case.ts';

const good = ping([20, 21, 22, 20]);

const unfit = bad('packet_too_big', {}, { source: 'network' });
const tooBig = (fields: { readonly size?: number }) =>
  bad('packet_too_big', { hops: [], ...fields }, { source: 'network' });
const lowTtl = (received: number) => ping([null, null], { ttl: 3, ordinary: { sent: 3, received } });

/** Cases of findings about probes that stalled during the check, or whose packets were unfit for it. */
export const stallCases: FindingCases = {
  packets_unfit: {
    present: [
      ['a link of the path is too small for them', summaryOf('ping', { 'fra-1': unfit })],
      ['a trace has a size that a link does not carry', summaryOf('traceroute', { 'fra-1': tooBig({ size: 1_450 }) })],
      ['nothing came back to a low TTL, and ordinary ones were answered', summaryOf('ping', { 'fra-1': lowTtl(2) })],
      [
        'their TTL was chosen too low',
        summaryOf('ping', { 'fra-1': bad('time_exceeded', { ttl: 3 }, { source: 'network' }) }),
      ],
    ],
    absent: [
      ['nothing came back to a low TTL, nor to ordinary ones', summaryOf('ping', { 'fra-1': lowTtl(0) })],
      [
        'their TTL was an ordinary one',
        summaryOf('ping', { 'fra-1': bad('time_exceeded', { ttl: 64 }, { source: 'network' }) }),
      ],
      ['nothing came back', summaryOf('ping', { 'fra-1': lost })],
      ['a link does not carry ordinary ones of a trace', summaryOf('traceroute', { 'fra-1': tooBig({}) })],
    ],
  },
  probe_stalled: {
    present: [
      [
        'its packet process did',
        summaryOf('ping', { 'fra-1': { ...good, stalled: 4_012, packetsLeftOut: 2 }, 'ber-1': good }),
      ],
      ['its packets did not leave it', summaryOf('ping', { 'fra-1': { ...good, packetsLeftOut: 2 }, 'ber-1': good })],
      ['its agent did', summaryOf('http', { 'fra-1': { ...http(200), stalled: 1_500 } })],
    ],
    absent: [
      ['it did not', summaryOf('ping', { 'fra-1': good, 'ber-1': good })],
      ['it ended', summaryOf('ping', { 'fra-1': broken('probe_interrupted'), 'ber-1': good })],
    ],
  },
};
