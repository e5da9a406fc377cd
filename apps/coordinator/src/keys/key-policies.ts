import { createTargetPolicy, type TargetPolicy, type TargetPolicyOptions } from '@vantage/target-policy';

/**
 * Creates the target policy of the coordinator, and those of keys that may measure additional networks. Networks that
 * the operator denies stay denied for every key.
 *
 * @returns a function from the networks of a key to its policy
 * @throws TypeError for malformed options
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
