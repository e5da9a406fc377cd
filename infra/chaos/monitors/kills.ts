import { setTimeout as sleep } from 'node:timers/promises';

import { seeded } from '@vantage/test-support/random/seeded';
import type { MonitorTrial } from './service.ts';

/**
 * Kills random coordinators with SIGKILL, one after another, and starts each again within two seconds. Several may be
 * down at the same time, but none is killed while it is the only one that listens.
 *
 * @returns the number of kills
 */
export async function killAtRandom(
  { coordinators }: Pick<MonitorTrial, 'coordinators'>,
  seed: number,
  durationMs: number,
): Promise<number> {
  const random = seeded(seed);
  const until = performance.now() + durationMs;
  const returning: Promise<void>[] = [];
  let kills = 0;
  while (performance.now() < until) {
    await sleep(200 + random() * 1_500);
    const listening = coordinators.filter(({ part }) => part.ranSince(performance.now()));
    if (listening.length < 2) continue;
    const { part } = listening[Math.floor(random() * listening.length)]!;
    await part.kill();
    kills += 1;
    const away = random() * 2_000;
    returning.push(sleep(away).then(part.start));
  }
  await Promise.all(returning);
  await Promise.all(coordinators.map(({ part }) => part.started()));
  return kills;
}
