import type { RequestHandler } from 'express';

import type { ProbeList } from '../../probes/probes.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';

export function listProbes(probes: ProbeList, limit: RequestHandler): Endpoint {
  return {
    path: '/probes',
    method: 'GET',
    limit,
    answer: async (request, response) => {
      const list = await probes.list();
      response.set('Cache-Control', 'no-cache');
      sendJson(request, response, list);
    },
  };
}
