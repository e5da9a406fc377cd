import { resolverFailing, type StubAnswer } from './stub-answer.ts';
import type { ResolverAddress } from './stub-transport.ts';

export interface Heard {
  readonly server: ResolverAddress;
  readonly answer: StubAnswer;
}

export const UNREACHABLE = 'dns_resolver_unreachable';

export function isReached(answer: StubAnswer): boolean {
  return answer.ok || (answer.failure.code !== UNREACHABLE && answer.failure.source !== 'probe');
}

export function isServfail(answer: StubAnswer): boolean {
  return !answer.ok && answer.failure.code === 'dns_servfail';
}

/**
 * Replaces SERVFAIL of resolvers that do not answer about other names either, because it then says nothing about this
 * name.
 */
export function ofFailingResolver(answers: readonly StubAnswer[], name: string): readonly StubAnswer[] {
  return answers.map((answer) => (isServfail(answer) ? resolverFailing(name) : answer));
}

/** Failure codes that may describe the name rather than the resolver. */
const tellingCodes = ['dns_servfail', 'dns_servers_silent'] as const;

/**
 * The most informative failure: one that may be about the name, else one of a server that was reached, else any;
 * undefined without failures.
 */
export function mostTelling(answers: readonly StubAnswer[]): StubAnswer | undefined {
  const failures = answers.filter(({ ok }) => !ok);
  const [telling] = tellingCodes.flatMap(
    (code) => failures.find((answer) => !answer.ok && answer.failure.code === code) ?? [],
  );
  return telling ?? failures.find(isReached) ?? failures[0];
}
