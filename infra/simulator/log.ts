import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { addressText } from '@vantage/contract/address';

/** A packet that a probe sent, as the simulator saw it. */
export interface Passage {
  readonly atMs: number;
  /** Number of the IP protocol. */
  readonly protocol: number;
  /** ICMP identifier, or the ports. */
  readonly conversation: string;
  readonly label: number;
  /** Number that identifies the probe packet: ICMP sequence, UDP checksum or TCP sequence. */
  readonly number: number;
  readonly ttl: number;
  readonly bytes: number;
  /** Routers and target that the packet reached, in order: indexes into `places` of its case. */
  readonly trail: readonly number[];
  readonly fate: 'arrived' | 'expired' | 'refused' | 'too big' | 'lost';
  readonly answers: Answer[];
}

/** A packet that the simulator sent to the probe. */
export interface Answer {
  readonly atMs: number;
  readonly from: string;
  readonly what: 'exceeded' | 'refused' | 'too big' | 'reply';
  /** False for a packet that must not count as an answer. */
  readonly isSound: boolean;
}

type Line =
  | [
      what: 'in',
      id: number,
      atMs: number,
      of: number,
      probe: number,
      protocol: number,
      conversation: string,
      label: number,
      number: number,
      ttl: number,
      bytes: number,
      trail: readonly number[],
      fate: Passage['fate'],
    ]
  | [what: 'out', id: number, atMs: number, from: string, kind: Answer['what'], isSound: boolean];

/** The packets of each case and probe, by `case/probe`, in order of arrival. */
export async function readLog(file: string): Promise<ReadonlyMap<string, readonly Passage[]>> {
  const passages = new Map<string, Passage[]>();
  const byId = new Map<number, Passage>();
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = JSON.parse(text) as Line;
    if (line[0] === 'out') {
      const [, id, atMs, from, what, isSound] = line;
      byId.get(id)?.answers.push({ atMs, from: addressText(Buffer.from(from, 'hex')), what, isSound });
      continue;
    }
    const [, id, atMs, of, probe, protocol, conversation, label, number, ttl, bytes, trail, fate] = line;
    const passage = { atMs, protocol, conversation, label, number, ttl, bytes, trail, fate, answers: [] };
    byId.set(id, passage);
    const key = `${of}/${probe}`;
    const own = passages.get(key);
    if (own === undefined) passages.set(key, [passage]);
    else own.push(passage);
  }
  return passages;
}
