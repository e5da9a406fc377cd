import { broken, summaryOf } from '../cases.ts';
import { http, ping } from '../results.ts';
import type { FindingCases } from './case.ts';

const good = ping([20, 21, 22, 20]);

/** Cases of findings about probes that stood still during the check. */
export const stallCases: FindingCases = {
  probe_stalled: {
    present: [
      [
        'its packet process did',
        summaryOf('ping', { 'fra-1': { ...good, stalled: 4_012, packetsLeftOut: 2 }, 'ber-1': good }),
      ],
      ['its agent did', summaryOf('http', { 'fra-1': { ...http(200), stalled: 1_500 } })],
    ],
    absent: [
      ['it did not', summaryOf('ping', { 'fra-1': good, 'ber-1': good })],
      ['it ended', summaryOf('ping', { 'fra-1': broken('probe_interrupted'), 'ber-1': good })],
    ],
  },
};
