import type { Ping } from './test-lab.ts';
import { networks } from './topology.ts';

/** Options of the pings to which `truths` apply. */
export const quick = { count: 5, interval: 200 };
export const none = { duplicates: 0, late: 0, reordered: 0, corrupted: 0 };

/** Each row of a ping as text: the sequence number, and `lost` without a reply or `again` for a duplicate. */
export const packetRows = ({ packets }: Ping): readonly string[] =>
  (packets ?? []).map(({ seq, rtt, duplicate }) => `${seq}${rtt === null ? ' lost' : ''}${duplicate ? ' again' : ''}`);

export interface Truth {
  readonly network: number;
  readonly rows: readonly string[];
  readonly fields: Partial<Ping>;
}

/** Expected ping results over link 9, by network. */
export const truths: readonly Truth[] = [
  { network: networks.even, rows: ['1', '2', '3', '4', '5'], fields: { loss: 0, anomalies: none } },
  {
    network: networks.lossy,
    rows: ['1', '2 lost', '3', '4', '5 lost'],
    fields: { loss: 0.4, anomalies: none },
  },
  {
    network: networks.doubling,
    rows: ['1', '1 again', '2', '3', '3 again', '3 again', '4', '5'],
    fields: { loss: 0, anomalies: { ...none, duplicates: 3 } },
  },
  {
    network: networks.reordering,
    rows: ['1', '2', '3', '4', '5'],
    fields: { loss: 0, anomalies: { ...none, reordered: 1 } },
  },
];
