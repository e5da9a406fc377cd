import { setTimeout as sleep } from 'node:timers/promises';

import { isWatched, serverOf } from '@vantage/redis-connections';
import { stallTolerantTimeout } from '@vantage/timers';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import type { MasterWatch } from './master-watch.ts';

/**
 * Keeps a new connection unused until the Sentinels confirm its server: a replaced master that continues after a stall answers too,
 * and a result that it takes is lost when it becomes a replica.
 */
export interface MasterGate {
  readonly isOpen: () => boolean;
  /** @throws StoreUnavailable while the gate is closed */
  readonly pass: () => void;
  /** Calls the listener whenever the gate opens. */
  readonly onOpen: (listener: () => void) => void;
}

/** If no majority of the Sentinels confirms by then, the connection is used: pending checks must end. A stall of this process does not count. */
const CLOSED_AT_MOST_MS = 1_000;
const RETRY_MS = 50;

export function createMasterGate(connection: Redis, master: Pick<MasterWatch, 'confirm' | 'look'>): MasterGate {
  const listeners: (() => void)[] = [];
  let isOpen = !isWatched(connection);
  /** Counts connections: a confirmation of an earlier one opens nothing. */
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
    // Independent of the questions: silent Sentinels must not prolong it.
    stopTimer = stallTolerantTimeout(CLOSED_AT_MOST_MS, open);
    while (isAwaited()) {
      const isConfirmed = await master.confirm(server).then(
        () => true,
        () => false,
      );
      if (!isAwaited()) return;
      if (isConfirmed) return open();
      // Leaves a replaced server; the next connection is another one.
      await master.look();
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
