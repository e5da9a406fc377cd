import { EventEmitter, once } from 'node:events';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';

import { StoreUnavailable } from '../store-errors.ts';
import { createMasterGate, type MasterGate } from './master-gate.ts';

/** A fake connection, and Sentinels whose reply the test controls. */
function openTrial(sentinels: readonly object[]) {
  const connection = Object.assign(new EventEmitter(), { options: { sentinels }, status: 'ready' });
  const answers = new EventEmitter();
  const asked = { confirm: 0, poll: 0 };
  const gate: MasterGate = createMasterGate(connection as unknown as Redis, {
    confirm: async () => {
      asked.confirm += 1;
      const [isMaster] = (await once(answers, 'answer')) as [boolean];
      if (!isMaster) throw new StoreUnavailable('Another server may be the master now');
    },
    poll: async () => void (asked.poll += 1),
  });
  /** Answers the pending query, or the next one. */
  const answer = async (isMaster: boolean): Promise<void> => {
    while (!answers.emit('answer', isMaster)) await new Promise(setImmediate);
  };
  return { connection, gate, asked, answer, answers };
}

afterEach(() => void jest.useRealTimers());

describe('the gate of a connection', () => {
  it('is always open without Sentinels', () => {
    const { connection, gate, asked } = openTrial([]);
    let opened = 0;
    gate.onOpen(() => (opened += 1));

    connection.emit('ready');
    connection.emit('close');

    expect([gate.isOpen(), opened, asked.confirm]).toEqual([true, 1, 0]);
  });

  it('opens when the Sentinels confirm the server, and is closed again with the connection', async () => {
    const { connection, gate, answer } = openTrial([{}]);
    const opened = new Promise<void>((resolve) => gate.onOpen(resolve));

    connection.emit('ready');
    const before = gate.isOpen();
    await answer(true);
    await opened;
    const confirmed = gate.isOpen();
    connection.emit('close');

    expect([before, confirmed, gate.isOpen()]).toEqual([false, true, false]);
    expect(gate.pass).toThrow(StoreUnavailable);
  });

  it('leaves a replaced server, and opens for the next one only', async () => {
    const { connection, gate, asked, answer } = openTrial([{}]);
    const opened = new Promise<void>((resolve) => gate.onOpen(resolve));

    connection.emit('ready');
    await answer(false);
    while (asked.poll === 0) await new Promise(setImmediate);
    connection.emit('close');
    const between = gate.isOpen();
    connection.emit('ready');
    await answer(true);
    await opened;

    expect([between, gate.isOpen()]).toEqual([false, true]);
  });

  it('opens in the end if no Sentinel can answer', async () => {
    const { connection, gate, asked, answers } = openTrial([{}]);

    connection.emit('ready');
    while (!gate.isOpen()) {
      answers.emit('answer', false);
      await new Promise(setImmediate);
    }

    expect(asked.confirm).toBeGreaterThan(1);
    gate.pass();
  });

  it('opens in the end if every Sentinel is silent', async () => {
    const { connection, gate, asked } = openTrial([{}]);
    const opened = new Promise<void>((resolve) => gate.onOpen(resolve));

    connection.emit('ready');
    const before = gate.isOpen();
    await opened;

    expect([before, gate.isOpen(), asked.confirm]).toEqual([false, true, 1]);
  });

  it('stays closed if the connection is lost while it waits', async () => {
    jest.useFakeTimers();
    const { connection, gate } = openTrial([{}]);

    connection.emit('ready');
    jest.advanceTimersByTime(500);
    connection.emit('close');
    jest.advanceTimersByTime(60_000);

    expect(gate.isOpen()).toBe(false);
    expect(gate.pass).toThrow(StoreUnavailable);
  });
});
