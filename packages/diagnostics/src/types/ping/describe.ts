import type { Description } from '../../shared/description.ts';
import { icmpText, listed, ms, told } from '../../shared/result-text.ts';
import type { ping } from './contract.ts';

export const description: Description<typeof ping> = {
  line: ({ rttMin, rttAvg, rttMax, jitter, pingCount, pingCompleted }) => [
    told(pingCount, (sent) => `${pingCompleted ?? 0} of ${sent} answered`),
    told(rttAvg, (average) => `${ms(rttMin)} / ${ms(average)} / ${ms(rttMax)}`),
    told(jitter, (value) => `jitter ${ms(value)}`),
  ],
  details: ({ packets = [], ordinary }) => [
    ...packets.flatMap(({ seq, icmp }) => listed(icmp, (error) => `packet ${seq}: ${icmpText(error)}`)),
    ...listed(ordinary, ({ sent, received }) => `${received} of ${sent} ordinary pings answered`),
  ],
};
