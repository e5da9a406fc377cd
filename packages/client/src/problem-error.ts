import type { Problem } from './types.ts';

/** An error response: a problem document (RFC 9457), or any other non-2xx response. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Undefined if the response contains no complete problem document, such as one from a proxy. */
  readonly problem: Problem | undefined;
  /** Value of `Retry-After`; undefined unless it is a number of seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: Problem | undefined, retryAfterSeconds: number | undefined) {
    super(problem === undefined ? `The service answered with status ${status}.` : sentence(problem));
    this.status = status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A successful response that the service does not send, such as the login page of a proxy. */
export class UnusableResponse extends Error {
  override readonly name = 'UnusableResponse';
}

/** Converts an error response. */
export async function problemError(response: Response): Promise<ProblemError> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  // A truncated document counts as none, as does one without the fields of the service.
  const document = isProblem ? ((await response.json().catch(() => undefined)) as Partial<Problem> | null) : undefined;
  const problem = typeof document?.detail === 'string' ? (document as Problem) : undefined;
  if (!isProblem) await response.body?.cancel();
  const retryAfter = response.headers.get('retry-after') ?? '';
  // Proxies may send a date; the service sends seconds.
  return new ProblemError(response.status, problem, /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined);
}

function sentence(problem: Problem): string {
  const fields = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  // `detail` may already contain the field errors.
  return [problem.detail, ...fields.filter((field) => !problem.detail.includes(field))].join('\n');
}
