import { createTargetPolicy, type TargetPolicy, type TargetPolicyOptions } from '@vantage/target-policy';

/**
 * The target policy of the coordinator, and that of each key that may reach further networks. What the operator denies
 * stays denied for every key.
 *
 * @returns a function from the networks of a key to its policy
 * @throws TypeError for options that cannot be read
 */
export function createKeyPolicies(options: TargetPolicyOptions): (allow?: readonly string[]) => TargetPolicy {
  const policy = createTargetPolicy(options);
  const policies = new WeakMap<readonly string[], TargetPolicy>();
  return (allow = []) => {
    if (allow.length === 0) return policy;
    const known = policies.get(allow);
    if (known !== undefined) return known;
    const wider = createTargetPolicy({ ...options, allow: [...(options.allow ?? []), ...allow] });
    policies.set(allow, wider);
    return wider;
  };
}
