import type { MonitorReads, MonitorWrites } from '../../../monitors/monitors.ts';
import type { Endpoint } from '../endpoint.ts';
import { followMonitor, type MonitorEventsOptions } from './monitor-events.ts';
import { listMonitors, monitorMetrics, readMonitor } from './read-monitors.ts';
import { deleteMonitor, putMonitor } from './write-monitors.ts';

export interface MonitorEndpointsOptions extends MonitorEventsOptions {
  readonly monitors: MonitorReads & MonitorWrites;
}

/** The endpoints of `/monitors`, and the metrics of monitors; one limit counts the requests to all. */
export function monitorEndpoints(options: MonitorEndpointsOptions): readonly Endpoint[] {
  const { monitors, limit } = options;
  return [
    listMonitors(monitors, limit),
    readMonitor(monitors, limit),
    putMonitor(monitors, limit),
    deleteMonitor(monitors, limit),
    followMonitor(options),
    monitorMetrics(monitors, limit),
  ];
}
