import { isCheckId, type Check, type LookUpPlace, type Probes, type Screenshot } from '@vantage/contract';
import { summarize, type ProbeFacts } from '@vantage/summary';

import type { Checks } from '../../checks/checks.ts';
import { continentOf } from '../../probes/selection/continents.ts';
import type { ProbeList } from '../../probes/registry/probe-list.ts';
import type { Limit } from '../limits/rate-limit.ts';
import { HttpProblem } from '../problem.ts';
import type { CompressedCache } from './compression.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';

/** The results do not change any more; what is known of probes and addresses may. Seconds. */
const MAX_AGE = 60;

export interface SummaryEndpointOptions {
  readonly checks: Pick<Checks, 'read' | 'screenshot'>;
  readonly probes: ProbeList;
  readonly lookUpPlace: LookUpPlace;
  readonly retentionSeconds: number;
  readonly limit: Limit;
  readonly compressed: CompressedCache;
}

/** `GET /check/:id/summary`: what the results mean together. */
export function showSummary(options: SummaryEndpointOptions): Endpoint {
  const { checks, probes, lookUpPlace, retentionSeconds, limit, compressed } = options;
  return {
    path: '/check/:id/summary',
    method: 'GET',
    scope: 'read',
    limit,
    answer: async (request, response) => {
      const { id = '' } = request.params as { readonly id?: string };
      const check = isCheckId(id) ? await checks.read(id, 0, new AbortController().signal) : undefined;
      if (check === undefined) {
        throw new HttpProblem('check-not-found', 'There is no check with this id, or it is too old to be kept.');
      }
      const [list, screenshot] = await Promise.all([probes.list(), screenshotOf(checks, check)]);
      const summary = summarize(check, factsOf(list), { screenshot, placeOf: lookUpPlace });
      response.set('Cache-Control', cacheControl(check, retentionSeconds));
      await sendJson(request, response, summary, check.status === 'completed' ? compressed : undefined);
    },
  };
}

/** A picture that was taken is in a result; then it need not be read. */
async function screenshotOf(checks: SummaryEndpointOptions['checks'], check: Check): Promise<Screenshot | undefined> {
  const isTaken = Object.values(check.results).some((result) => 'screenshot' in result);
  return check.type !== 'http' || isTaken ? undefined : (await checks.screenshot(check.testId))?.screenshot;
}

function factsOf(list: Probes): ReadonlyMap<string, ProbeFacts> {
  return new Map(
    Object.entries(list).map(([id, probe]) => [id, { ...probe, continent: continentOf(probe.countryCode) }]),
  );
}

function cacheControl({ status, completedAt, createdAt }: Check, retentionSeconds: number): string {
  if (status !== 'completed') return 'no-store';
  const leftSeconds = retentionSeconds - (Date.now() - Date.parse(completedAt ?? createdAt)) / 1000;
  return `public, max-age=${Math.floor(Math.max(0, Math.min(MAX_AGE, leftSeconds)))}`;
}
