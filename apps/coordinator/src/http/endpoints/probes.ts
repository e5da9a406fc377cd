import type { ProbeList } from '../../probes/registry/probe-list.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { CompressedCache } from './compression.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';

export function listAgents(probes: ProbeList, limit: Limit, compressed: CompressedCache): Endpoint {
  return {
    path: '/probes/agents',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const agents = await probes.agents();
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, agents, compressed);
    },
  };
}

export function listProbes(probes: ProbeList, limit: Limit, compressed: CompressedCache): Endpoint {
  return {
    path: '/probes',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const list = await probes.list();
      response.set('Cache-Control', 'no-cache');
      await sendJson(request, response, list, compressed);
    },
  };
}
