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

function sentence(problem: Problem): string {
  const fields = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  return [problem.detail, ...fields].join('\n');
}
