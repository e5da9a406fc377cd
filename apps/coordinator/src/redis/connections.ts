import { within } from '@vantage/timers';
import type { Redis } from 'ioredis';

/** Closes connections; waits a bounded time for the reply to `QUIT`. */
export async function closeAll(connections: readonly Redis[], withinMs = 500): Promise<void> {
  await Promise.all(connections.map((connection) => close(connection, withinMs)));
}

async function close(connection: Redis, withinMs: number): Promise<void> {
  if (connection.status === 'end') return;
  if (connection.status === 'ready') await within(connection.quit(), withinMs);
  connection.disconnect();
}
