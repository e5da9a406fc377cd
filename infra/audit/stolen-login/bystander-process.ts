// Another client of the same Redis: writes a key a hundred times a second. Answers each message with the latencies
// since the last one. Arguments: URL, file of the CA, process id of Redis.
import { readFileSync } from 'node:fs';

import { Redis } from 'ioredis';

export interface Seen {
  /** Latency of each write, milliseconds; pending writes count with their age. */
  readonly latenciesMs: readonly number[];
  /**
   * CPU time of Redis’ main thread while each write was pending, milliseconds; without the writes that are still
   * pending.
   */
  readonly busyMs: readonly number[];
  readonly refused: number;
  readonly firstRefusal: string | null;
}

const EVERY_MS = 10;

const [url = '', caFile = '', pid = ''] = process.argv.slice(2);
const redis = new Redis(url, { maxRetriesPerRequest: null, tls: { ca: readFileSync(caFile, 'utf8') } });
redis.on('error', () => undefined);
let latenciesMs: number[] = [];
let busyMs: number[] = [];
/** CPU time that the main thread of Redis has used, milliseconds. */
const onProcessorMs = (): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
let refusals: string[] = [];
const underWay = new Set<number>();

setInterval(() => {
  const [sentAt, busyBefore] = [performance.now(), onProcessorMs()];
  underWay.add(sentAt);
  redis
    .set('audit:bystander', '1')
    .catch((error: unknown) => refusals.push(String(error)))
    .finally(() => {
      underWay.delete(sentAt);
      latenciesMs.push(performance.now() - sentAt);
      busyMs.push(onProcessorMs() - busyBefore);
    });
}, EVERY_MS);

process.on('message', () => {
  const now = performance.now();
  const seen: Seen = {
    latenciesMs: [...latenciesMs, ...[...underWay].map((sentAt) => now - sentAt)],
    busyMs,
    refused: refusals.length,
    firstRefusal: refusals[0] ?? null,
  };
  [latenciesMs, busyMs, refusals] = [[], [], []];
  process.send?.(seen);
});
process.on('disconnect', () => process.exit());
redis.once('ready', () => process.send?.('started'));
