import type { StubAnswer } from './stub-answer.ts';

export const UNREACHABLE = 'dns_resolver_unreachable';

export function isReached(answer: StubAnswer): boolean {
  return answer.ok || answer.failure.code !== UNREACHABLE;
}

/** Of several failures: SERVFAIL, which may be about the name, then refusals, then servers that were not reached. */
export function mostTelling(answers: readonly StubAnswer[]): StubAnswer | undefined {
  const failures = answers.filter(({ ok }) => !ok);
  const servfail = failures.find((answer) => !answer.ok && answer.failure.code === 'dns_servfail');
  return servfail ?? failures.find(isReached) ?? failures[0];
}
