import { HttpProblem } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';

/** Says whether the service can take a check; each reason why not is a sentence. Never rejects. */
export type Readiness = () => Promise<readonly string[]>;

/** The process runs and answers; nothing else is asked. */
export const showHealth: Endpoint = {
  path: '/healthz',
  method: 'GET',
  answer: (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  },
};

/** @param warnings what is wrong although a check can be taken; shown with `?verbose` */
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
