import { afterPatience } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

/** Closes connections. A `QUIT` that is never answered does not hold the end of the process up. */
export async function closeAll(connections: readonly Redis[], withinMs = 500): Promise<void> {
  await Promise.all(connections.map((connection) => close(connection, withinMs)));
}

async function close(connection: Redis, withinMs: number): Promise<void> {
  if (connection.status === 'end') return;
  if (connection.status === 'ready') await within(connection.quit(), withinMs);
  connection.disconnect();
}

/** Waits for a promise, but not longer than a time, and not for its errors. Time in which this process was held up is not counted. */
export async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const cancel = afterPatience(milliseconds, timeout.resolve);
  await Promise.race([promise.catch(() => undefined), timeout.promise]);
  cancel();
}
