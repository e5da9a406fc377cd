import { setTimeout as sleep } from 'node:timers/promises';

import { isWatched, serverOf } from '@vantage/redis-connections';
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

/** If no majority of the Sentinels confirms, the connection is used after the first question that ends later: pending checks must end. */
const CLOSED_AT_MOST_MS = 1_000;
const RETRY_MS = 50;

export function createMasterGate(connection: Redis, master: Pick<MasterWatch, 'confirm' | 'look'>): MasterGate {
  const listeners: (() => void)[] = [];
  let isOpen = !isWatched(connection);
  /** Counts connections: a confirmation of an earlier one opens nothing. */
  let current = 0;

  const open = (): void => {
    isOpen = true;
    for (const listener of listeners) listener();
  };
  const openWhenConfirmed = async (): Promise<void> => {
    const [own, server, closedAt] = [current, serverOf(connection), performance.now()];
    while (own === current) {
      const isConfirmed = await master.confirm(server).then(
        () => true,
        () => false,
      );
      if (own !== current) return;
      if (isConfirmed) return open();
      // Leaves a replaced server; the next connection is another one.
      await master.look();
      if (own === current && performance.now() - closedAt > CLOSED_AT_MOST_MS) return open();
      await sleep(RETRY_MS);
    }
  };

  connection.on('ready', () => {
    if (isWatched(connection)) void openWhenConfirmed();
    else open();
  });
  connection.on('close', () => {
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
