import { redisKeys, type Monitor, type MonitorRequest, type Monitors } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readKept } from '../checks/read/kept-checks.ts';
import type { Store } from '../redis/open-store.ts';
import { onStore } from '../redis/store.ts';
import { firstTickAfter, tickAfterMissed, type ReadDefinition } from './definition.ts';
import { describeMonitor, describeMonitorWithRuns, describeRun } from './describe-monitor.ts';
import type { MonitorsFile } from './file/follow-file.ts';
import { monitorMetricsText } from './monitor-metrics.ts';
import type { EventsReading, MonitorReads, MonitorWrites } from './monitors.ts';
import { putMonitor, removeMonitor } from './store/definition-records.ts';
import { readEventBounds, readEventsAfter, readLastRun, readMonitor, readMonitors } from './store/monitor-records.ts';

export function createMonitorReads({ requests, channels }: Store, file: MonitorsFile | undefined): MonitorReads {
  const list = async (): Promise<Monitors> => {
    const records = await onStore(requests, readMonitors);
    return Object.fromEntries([...records].map(([name, record]) => [name, describeMonitor(name, record)]));
  };
  return {
    list,
    metrics: async () => monitorMetricsText(await list()),
    read: (name) => onStore(requests, (redis) => readWhole(redis, name)),
    follow: (name, onChange) =>
      channels.listen(redisKeys.monitorsChanged, (changed) => {
        if (changed === name || changed === '') onChange();
      }),
    eventsAfter: (name, after) => onStore(requests, (redis) => readEvents(redis, name, after)),
    fileFault: () => file?.fault(),
  };
}

async function readWhole(redis: Redis, name: string): Promise<Monitor | undefined> {
  const record = await readMonitor(redis, name);
  if (record === undefined) return undefined;
  const checks = record.pathChanges.flatMap(({ checkId, changes }) => [
    ...(checkId === null ? [] : [checkId]),
    ...changes.map(({ before }) => before),
  ]);
  return describeMonitorWithRuns(name, record, await readKept(redis, checks));
}

async function readEvents(redis: Redis, name: string, after: string | undefined): Promise<EventsReading | undefined> {
  // The bounds are read before the monitor: a concurrent change is then sent again, not lost.
  const { first, last, isTrimmed } = await readEventBounds(redis, name);
  const lastRun = await readLastRun(redis, name);
  const run = lastRun === undefined ? undefined : describeRun(lastRun);
  const isKnown = after !== undefined && !(isTrimmed && isBefore(after, first)) && !isBefore(last, after);
  if (isKnown && last !== '0-0') {
    return { events: await readEventsAfter(redis, name, after), run, snapshot: undefined };
  }
  const record = await readMonitor(redis, name);
  if (record === undefined) return undefined;
  const snapshot = isKnown ? undefined : { id: last, monitor: describeMonitor(name, record) };
  return { events: [], run, snapshot };
}

/** Compares ids of a stream: `<ms>-<sequence>`. */
function isBefore(one: string, other: string): boolean {
  const [ms = 0, sequence = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherSequence = 0] = other.split('-').map(Number);
  return ms === otherMs ? sequence < otherSequence : ms < otherMs;
}

export function createMonitorWrites(
  { requests, clock }: Store,
  readDefinition: ReadDefinition,
  most: number,
): MonitorWrites {
  return {
    put: async (name, request, allow) => {
      const reading = readDefinition(name, request, allow);
      if (!reading.valid) return { outcome: 'invalid', errors: reading.errors };
      return onStore(requests, async (redis) => {
        const stored = {
          owner: 'api' as const,
          request: request as MonitorRequest,
          ...(allow.length === 0 ? {} : { allow }),
        };
        const nowMs = await clock.now(redis);
        const [first, inAlarm] = [firstTickAfter, tickAfterMissed].map((tick) => tick(nowMs, reading.definition));
        const outcome = await putMonitor(redis, name, stored, first!, most, inAlarm);
        if (outcome === 'file' || outcome === 'full') return { outcome };
        const monitor = await readWhole(redis, name);
        if (monitor === undefined) throw new Error('a monitor was removed while it was written');
        return { outcome, monitor };
      });
    },
    remove: (name) => onStore(requests, (redis) => removeMonitor(redis, name, 'api')),
  };
}
