import { isMonitorName } from '@vantage/contract';

import type { MonitorReads } from '../../../monitors/monitors.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem } from '../../problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { sendJson, sendText } from '../send-json.ts';

export function listMonitors(monitors: MonitorReads, limit: Limit): Endpoint {
  return {
    path: '/monitors',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const list = await monitors.list();
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, list);
    },
  };
}

export function readMonitor(monitors: MonitorReads, limit: Limit): Endpoint {
  return {
    path: '/monitors/:name',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const { name = '' } = request.params as { readonly name?: string };
      const monitor = isMonitorName(name) ? await monitors.read(name) : undefined;
      if (monitor === undefined) throw new HttpProblem('monitor-not-found', 'There is no monitor with this name.');
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, monitor);
    },
  };
}

/** `GET /metrics/monitors`: the states and last results of all monitors in the Prometheus text format. */
export function monitorMetrics(monitors: MonitorReads, limit: Limit): Endpoint {
  return {
    path: '/metrics/monitors',
    method: 'GET',
    scope: 'read',
    limit,
    answer: async (request, response) => {
      const text = await monitors.metrics();
      response.set('Cache-Control', 'no-store');
      await sendText(request, response, 'text/plain; version=0.0.4; charset=utf-8', Buffer.from(text));
    },
  };
}
