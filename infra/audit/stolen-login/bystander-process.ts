// Another client of the same Redis: writes a key a hundred times a second. Says for each question how that went since the last.
// Argument: URL.
import { Redis } from 'ioredis';

export interface Seen {
  /** Milliseconds of each write that was answered, and of those under way, so far. */
  readonly latenciesMs: readonly number[];
  readonly refused: number;
  readonly firstRefusal: string | null;
}

const EVERY_MS = 10;

const redis = new Redis(process.argv[2] ?? '', { maxRetriesPerRequest: null });
redis.on('error', () => undefined);
let latenciesMs: number[] = [];
let refusals: string[] = [];
const underWay = new Set<number>();

setInterval(() => {
  const sentAt = performance.now();
  underWay.add(sentAt);
  redis
    .set('audit:bystander', '1')
    .catch((error: unknown) => refusals.push(String(error)))
    .finally(() => {
      underWay.delete(sentAt);
      latenciesMs.push(performance.now() - sentAt);
    });
}, EVERY_MS);

process.on('message', () => {
  const now = performance.now();
  const seen: Seen = {
    latenciesMs: [...latenciesMs, ...[...underWay].map((sentAt) => now - sentAt)],
    refused: refusals.length,
    firstRefusal: refusals[0] ?? null,
  };
  [latenciesMs, refusals] = [[], []];
  process.send?.(seen);
});
process.on('disconnect', () => process.exit());
redis.once('ready', () => process.send?.('started'));
