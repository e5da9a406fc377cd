import type { Redis } from 'ioredis';

import { error, ok, warning, type DoctorFinding } from './finding.ts';

const SAMPLES = 3;
const NOTICED_MS = 2_000;
/** Clock offset at which the finding becomes an error. */
const WRONG_MS = 10 * 60_000;

/** Compares the clock of this machine with that of Redis. */
export async function checkClock(redis: Redis): Promise<DoctorFinding> {
  let best = { offMs: 0, roundTripMs: Number.POSITIVE_INFINITY };
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const sentAt = performance.now();
    const before = Date.now();
    const [seconds, microseconds] = await redis.time();
    const roundTripMs = performance.now() - sentAt;
    const redisMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    if (roundTripMs < best.roundTripMs) best = { offMs: before + roundTripMs / 2 - redisMs, roundTripMs };
  }
  const offMs = Math.max(0, Math.abs(best.offMs) - best.roundTripMs / 2);
  if (offMs < NOTICED_MS) {
    return ok(
      'clock',
      `The clocks of this machine and of Redis agree within ${Math.ceil(offMs + best.roundTripMs / 2)} ms.`,
    );
  }
  const seconds = Math.round(offMs / 1_000);
  const message = `The clock of this machine is ${seconds} s ${best.offMs > 0 ? 'ahead of' : 'behind'} that of Redis.`;
  const remedy =
    'Synchronise both with NTP (timedatectl, chrony). Log times differ, and certificates and API keys expire at the wrong time.';
  return offMs < WRONG_MS ? warning('clock', message, remedy) : error('clock', message, remedy);
}
