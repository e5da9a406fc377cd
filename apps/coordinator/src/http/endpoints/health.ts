import { HttpProblem } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';

/** Reasons why the service cannot accept a check, one sentence each; empty if it can. Never rejects. */
export type Readiness = () => Promise<readonly string[]>;

/** Liveness only: nothing else is checked. */
export const showHealth: Endpoint = {
  path: '/healthz',
  method: 'GET',
  answer: (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  },
};

/** @param warnings problems that do not prevent checks; shown with `?verbose` */
export function showReadiness(readiness: Readiness, warnings: () => readonly string[]): Endpoint {
  return {
    path: '/readyz',
    method: 'GET',
    answer: async (request, response) => {
      const reasons = await readiness();
      if (reasons.length > 0) {
        throw new HttpProblem('unavailable', reasons.join(' '), { headers: { 'Retry-After': '2' } });
      }
      const more = Object.hasOwn(request.query, 'verbose') ? { warnings: warnings() } : {};
      response.set('Cache-Control', 'no-store').json({ status: 'ready', ...more });
    },
  };
}
