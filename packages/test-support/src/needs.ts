import { networkInterfaces } from 'node:os';

import { it } from '@jest/globals';

/** Why tests over IPv6 loopback cannot run; null if they can. */
export function ipv6Missing(): string | null {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return addresses.some(({ address }) => address === '::1') ? null : 'no IPv6 on this machine';
}

/**
 * `it` for tests with requirements on the machine: skipped with the reason if one is missing, but failing in CI,
 * where none may be skipped.
 *
 * @param missing the missing requirement, or null
 * @param ci the variable `CI` of the environment, `true` in CI
 * @param when `concurrent` runs the tests of a `describe` that mostly wait at the same time, without its `beforeEach` and
 *   `afterEach`
 */
export function itNeeding(
  missing: string | null,
  ci: string | undefined,
  when: 'alone' | 'concurrent' = 'alone',
): (name: string, test: () => Promise<void>) => void {
  if (missing === null) return (name, test) => (when === 'alone' ? it : it.concurrent)(name, test);
  const reason = ` (${missing})`;
  if (ci !== 'true') return (name, test) => it.skip(name + reason, test);
  return (name) =>
    it(name + reason, () => {
      throw new Error(`CI may not skip this test: ${missing}`);
    });
}
