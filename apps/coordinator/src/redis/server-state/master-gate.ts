import { setTimeout as sleep } from 'node:timers/promises';

import { isWatched, serverOf } from '@vantage/redis-connections';
import { stallTolerantTimeout } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import type { MasterWatch } from './master-watch.ts';

/**
 * With Sentinels, closed until they confirm the server of a new connection, at most `CLOSED_AT_MOST_MS`: a replaced
 * master that continues after a stall also replies, and a result written to it is lost when it becomes a replica.
 * Without Sentinels always open.
 */
export interface MasterGate {
  readonly isOpen: () => boolean;
  /** @throws StoreUnavailable while the gate is closed */
  readonly pass: () => void;
  /** Calls the listener each time the gate opens; without Sentinels each time the connection is ready. */
  readonly onOpen: (listener: () => void) => void;
}

/**
 * If no majority of the Sentinels has confirmed after this time, the gate opens: pending checks must end. Stalls of
 * this process count little.
 */
const CLOSED_AT_MOST_MS = 1_000;
const RETRY_MS = 50;

export function createMasterGate(connection: Redis, master: Pick<MasterWatch, 'confirm' | 'poll'>): MasterGate {
  const listeners: (() => void)[] = [];
  let isOpen = !isWatched(connection);
  /** Counts connections, so that a confirmation of an earlier one has no effect. */
  let current = 0;
  let stopTimer = (): void => undefined;

  const open = (): void => {
    stopTimer();
    isOpen = true;
    for (const listener of listeners) listener();
  };
  const openWhenConfirmed = async (): Promise<void> => {
    const [own, server] = [current, serverOf(connection)];
    const isAwaited = (): boolean => own === current && !isOpen;
    // This timer is independent of the queries: silent Sentinels must not keep the gate closed.
    stopTimer = stallTolerantTimeout(CLOSED_AT_MOST_MS, open);
    while (isAwaited()) {
      const isConfirmed = await master.confirm(server).then(
        () => true,
        () => false,
      );
      if (!isAwaited()) return;
      if (isConfirmed) return open();
      // Disconnects from a replaced server; the next connection starts again.
      await master.poll();
      await sleep(RETRY_MS);
    }
  };

  connection.on('ready', () => {
    if (isWatched(connection)) void openWhenConfirmed();
    else open();
  });
  connection.on('close', () => {
    stopTimer();
    current += 1;
    isOpen = !isWatched(connection);
  });
  return {
    isOpen: () => isOpen,
    pass: () => {
      if (!isOpen) throw new StoreUnavailable('The Sentinels have not confirmed the master');
    },
    onOpen: (listener) => void listeners.push(listener),
  };
}
