import { isMonitorName } from '@vantage/contract';

import type { MonitorWrites } from '../../../monitors/monitors.ts';
import { requireKey } from '../../caller.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem } from '../../problem.ts';
import { readJson } from '../../requests/read-json.ts';
import { invalid } from '../../requests/validate-request.ts';
import type { Endpoint } from '../endpoint.ts';

const ofFile = 'MONITORS_FILE names this monitor; change it there.';

/** `PUT /monitors/:name`: creates or replaces a monitor. */
export function putMonitor(monitors: MonitorWrites, limit: Limit): Endpoint {
  return {
    path: '/monitors/:name',
    method: 'PUT',
    scope: 'monitor',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const { allow } = requireKey(request, 'monitor');
      const { name = '' } = request.params as { readonly name?: string };
      const written = await monitors.put(name, await readJson(request), allow);
      if (written.outcome === 'invalid') throw invalid(written.errors);
      if (written.outcome === 'file') throw new HttpProblem('monitor-of-file', ofFile);
      if (written.outcome === 'full') {
        throw new HttpProblem('too-many-monitors', 'There are as many monitors as MONITORS_MAX allows.');
      }
      response.status(written.outcome === 'new' ? 201 : 200).set('Cache-Control', 'no-store');
      response.json(written.monitor);
    },
  };
}

/** `DELETE /monitors/:name` */
export function deleteMonitor(monitors: MonitorWrites, limit: Limit): Endpoint {
  return {
    path: '/monitors/:name',
    method: 'DELETE',
    scope: 'monitor',
    parameters: [],
    limit,
    answer: async (request, response) => {
      requireKey(request, 'monitor');
      const { name = '' } = request.params as { readonly name?: string };
      const outcome = isMonitorName(name) ? await monitors.remove(name) : 'absent';
      if (outcome === 'absent') throw new HttpProblem('monitor-not-found', 'There is no monitor with this name.');
      if (outcome === 'file') throw new HttpProblem('monitor-of-file', ofFile);
      response.status(204).set('Cache-Control', 'no-store').end();
    },
  };
}
