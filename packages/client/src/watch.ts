import type { StreamEvent } from './read-events.ts';
import type { CheckTypeName, EventCheckOf, EventResultOf, MonitorEvent, MonitorInList, Run } from './types.ts';
import { watchStream, type OpenStream, type StreamOptions } from './watch-stream.ts';

/** Events of `watch`. Screenshots are not inline; `screenshotUrl` refers to them. */
export type CheckEvent<Name extends CheckTypeName = CheckTypeName> =
  | {
      readonly type: 'probe';
      /** Increases with each change of the check; starts again if the service has lost its last writes. */
      readonly version: number;
      readonly probe: string;
      /** Pending with the fields known so far, or final. */
      readonly result: EventResultOf<Name>;
    }
  /** The last event. */
  | {
      readonly type: 'completed';
      /** 1,000,000 above the version of the check. */
      readonly version: number;
      readonly check: EventCheckOf<Name>;
    };

export interface WatchOptions extends StreamOptions {
  /** Skips events up to this version, which an earlier watch has received. */
  readonly after?: number;
}

export function watchCheck<Name extends CheckTypeName>(
  open: OpenStream,
  { after, ...options }: WatchOptions,
): AsyncGenerator<CheckEvent<Name>, void, undefined> {
  const kind = { read: checkEventOf<Name>, isLast: ({ type }: CheckEvent<Name>) => type === 'completed' };
  return watchStream(open, kind, after === undefined ? '' : String(after), options);
}

function checkEventOf<Name extends CheckTypeName>(
  { event, data }: StreamEvent,
  lastEventId: string,
): CheckEvent<Name> | undefined {
  const version = Number(lastEventId);
  if (event === 'probe') {
    const { probe, result } = JSON.parse(data) as { readonly probe: string; readonly result: EventResultOf<Name> };
    return { type: 'probe', version, probe, result };
  }
  if (event !== 'completed') return undefined;
  return { type: 'completed', version, check: JSON.parse(data) as EventCheckOf<Name> };
}

/** Events of `watchMonitor`. */
export type MonitorChange =
  /** The monitor itself: the first event if `after` names none, and again after a loss of events. */
  | { readonly type: 'monitor'; readonly id: string; readonly monitor: MonitorInList }
  | { readonly type: 'change'; readonly id: string; readonly change: MonitorEvent }
  /** The last run: at the start, and after each tick. */
  | { readonly type: 'run'; readonly id: string; readonly run: Run };

export interface WatchMonitorOptions extends StreamOptions {
  /** Id of the last event that an earlier watch has received. */
  readonly after?: string;
}

export function watchMonitor(
  open: OpenStream,
  { after = '', ...options }: WatchMonitorOptions,
): AsyncGenerator<MonitorChange, void, undefined> {
  return watchStream(open, { read: monitorChangeOf, isLast: () => false }, after, options);
}

const eventKinds: Readonly<Record<MonitorEvent['kind'], true>> = {
  state: true,
  probe: true,
  parting: true,
  path: true,
};

function monitorChangeOf({ event, data }: StreamEvent, id: string): MonitorChange | undefined {
  if (event === 'monitor') return { type: 'monitor', id, monitor: JSON.parse(data) as MonitorInList };
  if (event === 'run') return { type: 'run', id, run: JSON.parse(data) as Run };
  if (event === undefined || !Object.hasOwn(eventKinds, event)) return undefined;
  return { type: 'change', id, change: JSON.parse(data) as MonitorEvent };
}
