import type { Problem } from '@vantage/contract';

/** The service answered with a problem document (RFC 9457), or with something that is none. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Undefined where what answered is not the service, such as a proxy in front of it. */
  readonly problem: Problem | undefined;
  /** Seconds to wait, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: Problem | undefined, retryAfterSeconds: number | undefined) {
    super(problem === undefined ? `The service answered with status ${status}.` : sentence(problem));
    this.status = status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Reads what the service answered instead of what was asked for. */
export async function problemError(response: Response): Promise<ProblemError> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  // One that is cut off on its way is none.
  const problem = isProblem ? ((await response.json().catch(() => undefined)) as Problem | undefined) : undefined;
  if (!isProblem) await response.body?.cancel();
  const retryAfter = response.headers.get('retry-after') ?? '';
  // What is not the service may send a date.
  return new ProblemError(response.status, problem, /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined);
}

function sentence(problem: Problem): string {
  const fields = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  // A detail may be made of the fields already.
  return [problem.detail, ...fields.filter((field) => !problem.detail.includes(field))].join('\n');
}
