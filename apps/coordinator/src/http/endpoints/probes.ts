import type { ProbeList } from '../../probes/registry/probe-list.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';

export function listAgents(probes: ProbeList, limit: Limit): Endpoint {
  return {
    path: '/probes/agents',
    method: 'GET',
    limit,
    answer: async (request, response) => {
      const agents = await probes.agents();
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, agents);
    },
  };
}

export function listProbes(probes: ProbeList, limit: Limit): Endpoint {
  return {
    path: '/probes',
    method: 'GET',
    limit,
    answer: async (request, response) => {
      const list = await probes.list();
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, list);
    },
  };
}
