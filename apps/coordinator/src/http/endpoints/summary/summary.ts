import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../../problem.ts';
import type { CompressedCache } from '../compression.ts';
import type { Endpoint } from '../endpoint.ts';
import { readSummary, type SummarySources } from './read-summary.ts';
import { sendJson } from '../send-json.ts';

export interface SummaryEndpointOptions extends SummarySources {
  readonly limit: Limit;
  readonly compressed: CompressedCache;
}

/** `GET /check/:id/summary`: verdict and findings of all results. */
export function showSummary({ limit, compressed, ...sources }: SummaryEndpointOptions): Endpoint {
  return {
    path: '/check/:id/summary',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const { id = '' } = request.params as { readonly id?: string };
      const reading = await readSummary(sources, id);
      if (reading === undefined) {
        throw new HttpProblem('check-not-found', NO_SUCH_CHECK);
      }
      response.set('Cache-Control', reading.cacheControl);
      const kept = reading.check.status === 'completed' ? compressed : undefined;
      await sendJson(request, response, reading.summary, kept);
    },
  };
}
