import type { StubAnswer } from './stub-answer.ts';

export const UNREACHABLE = 'dns_resolver_unreachable';

export function isReached(answer: StubAnswer): boolean {
  return answer.ok || (answer.failure.code !== UNREACHABLE && answer.failure.source !== 'probe');
}

/** Codes that may be about the name. */
const tellingCodes = ['dns_servfail', 'dns_servers_silent'] as const;

/** Of several failures: those that may be about the name, then refusals, then servers that were not reached. */
export function mostTelling(answers: readonly StubAnswer[]): StubAnswer | undefined {
  const failures = answers.filter(({ ok }) => !ok);
  const [telling] = tellingCodes.flatMap(
    (code) => failures.find((answer) => !answer.ok && answer.failure.code === code) ?? [],
  );
  return telling ?? failures.find(isReached) ?? failures[0];
}
