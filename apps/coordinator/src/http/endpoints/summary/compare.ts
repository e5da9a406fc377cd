import { compareChecks } from '@vantage/summary';

import { CheckEvicted } from '../../../redis/store-errors.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../../problem.ts';
import type { CompressedCache } from '../compression.ts';
import type { Endpoint } from '../endpoint.ts';
import { cacheControl, readSummary, type SummaryReading, type SummarySources } from './read-summary.ts';
import { sendJson } from '../send-json.ts';

export interface CompareEndpointOptions extends SummarySources {
  readonly limit: Limit;
  readonly compressed: CompressedCache;
}

type Which = 'first' | 'second';

/** `GET /check/:a/compare/:b`: the differences between two completed checks of one type. */
export function showComparison({ limit, compressed, ...sources }: CompareEndpointOptions): Endpoint {
  return {
    path: '/check/:id/compare/:other',
    method: 'GET',
    scope: 'read',
    parameters: [],
    limit,
    answer: async (request, response) => {
      const { id = '', other = '' } = request.params as { readonly id?: string; readonly other?: string };
      if (id === other) throw new HttpProblem('checks-not-comparable', 'Both ids are of the same check.');
      const [a, b] = await Promise.all([readOne(sources, id, 'first'), readOne(sources, other, 'second')]);
      if (a.check.type !== b.check.type) {
        throw new HttpProblem(
          'checks-not-comparable',
          `The first check is of type ${a.check.type}, the second of type ${b.check.type}; both must be of one type.`,
        );
      }
      refusePending(a, b);
      response.set('Cache-Control', cacheControl([a.check, b.check], sources.retentionSeconds));
      await sendJson(request, response, compareChecks(a, b), compressed);
    },
  };
}

/**
 * @throws HttpProblem that names the check as the first or the second one, never by its id, with which anyone could
 * read the results
 */
async function readOne(sources: SummarySources, id: string, which: Which): Promise<SummaryReading> {
  try {
    const reading = await readSummary(sources, id);
    if (reading !== undefined) return reading;
  } catch (error) {
    if (!(error instanceof CheckEvicted)) throw error;
    throw new HttpProblem('check-evicted', `The ${which} check: ${error.message}`);
  }
  throw new HttpProblem('check-not-found', `The ${which} check: ${NO_SUCH_CHECK}`);
}

function refusePending(a: SummaryReading, b: SummaryReading): void {
  const [first, second] = [a, b].map(({ check }) => check.status !== 'completed');
  if (first !== true && second !== true) return;
  const which = first && second ? 'Both checks are' : `The ${first ? 'first' : 'second'} check is`;
  throw new HttpProblem(
    'checks-not-comparable',
    `${which} not completed yet; \`?wait\` of its results waits for that.`,
  );
}
