import type { Description } from '../../shared/description.ts';
import { count, icmpText, listed, ms, told } from '../../shared/result-text.ts';
import type { ping } from './contract.ts';

export const description: Description<typeof ping> = {
  line: ({ rttMin, rttAvg, rttMax, jitter, pingCount, pingCompleted, packets }) => [
    pingCount === undefined ? rowsSoFar(packets) : `${pingCompleted ?? 0} of ${pingCount} answered`,
    told(rttAvg, (average) => `${ms(rttMin)} / ${ms(average)} / ${ms(rttMax)}`),
    told(jitter, (value) => `jitter ${ms(value)}`),
  ],
  details: ({ packets = [] }) =>
    packets.flatMap(({ seq, icmp }) => listed(icmp, (error) => `packet ${seq}: ${icmpText(error)}`)),
};

function rowsSoFar(packets: readonly { readonly rtt: number | null }[] | undefined): string | undefined {
  const last = packets?.at(-1);
  if (packets === undefined || last === undefined) return undefined;
  return `${count(packets.length, 'packet')}, ${last.rtt === null ? 'lost' : ms(last.rtt)}`;
}
