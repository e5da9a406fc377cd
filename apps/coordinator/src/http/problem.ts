import {
  problemTypes,
  withoutEncodedSecrets,
  type InputError,
  type Problem,
  type ProblemType,
} from '@vantage/contract';

import type { Links } from './links.ts';

export interface HttpProblemDetails {
  /** What is wrong with the fields of a request; the function `invalid` bounds their number. */
  readonly errors?: readonly InputError[];
  /** Additional headers, such as `Allow` and `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that the HTTP layer answers as a problem document (RFC 9457). */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly type: ProblemType;
  readonly errors: readonly InputError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /** @param detail sentences for the client, without internal details */
  constructor(type: ProblemType, detail: string, { errors, headers = {}, cause }: HttpProblemDetails = {}) {
    super(detail, { cause });
    this.type = type;
    this.errors = errors;
    this.headers = headers;
  }

  get status(): number {
    return problemTypes[this.type].status;
  }
}

/** `detail` of a 404 for a check id; also used for an evicted check without a record of its eviction. */
export const NO_SUCH_CHECK =
  'There is no check with this id, or it is no longer kept: its retention has ended, or its results and then the record of their ' +
  'removal made room for newer ones.';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * Builds the problem document; secrets of API keys are removed from all texts.
 *
 * @param instance path of the request, without secrets
 */
export function problemDocument(problem: HttpProblem, links: Links, instance: string, requestId: string): Problem {
  return {
    type: links.problem(problem.type),
    title: problemTypes[problem.type].title,
    status: problem.status,
    detail: withoutEncodedSecrets(problem.message),
    instance,
    requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors.map(withoutSecretsOf) }),
  };
}

function withoutSecretsOf({ path, message }: InputError): InputError {
  return { path: withoutEncodedSecrets(path), message: withoutEncodedSecrets(message) };
}
