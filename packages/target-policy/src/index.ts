export { createAdmission, type AdmissionOptions } from './admission.ts';
export { canonicalizeHost, type CanonicalHost, type Canonicalization, type HostKind } from './hosts/canonical-host.ts';
export { canonicalizeUrl, type CanonicalUrl } from './hosts/canonical-url.ts';
export { classifyAddress, isPrivateAddress, type AddressRule, type AddressVerdict } from './addresses/classify.ts';
export { evaluateTarget, type TargetDecision, type TargetRequest } from './rules/evaluate-target.ts';
export { malformedReasons, type Malformed, type MalformedCode } from './hosts/malformed.ts';
export { createNameLookup, type NameLookupOptions } from './name-lookup.ts';
export { evaluateName, type NameUse } from './rules/evaluate-name.ts';
export { withNat64Prefixes } from './nat64.ts';
export {
  createOwnAddresses,
  discoverOwnAddresses,
  type DiscoveredAddresses,
  type DiscoveryOptions,
} from './own/own-addresses.ts';
export type { ProtectedEndpoint, OwnAddresses } from './own/own-network.ts';
export { uselessAllowance } from './rules/allowance.ts';
export { createTargetPolicy, targetPolicyFaults, type TargetPolicy, type TargetPolicyOptions } from './rules/policy.ts';
export { evaluatePort } from './rules/evaluate-port.ts';
export type { Refusal, RefusalCode } from './rules/refusal.ts';
export {
  createNameResolver,
  type AddressAnswer,
  type NameResolver,
  type NameResolverOptions,
} from './resolver/resolver.ts';
export { createSystemResolvers } from './resolver/system-resolvers.ts';
export { policyKinds, resolverKind, type SettingKind } from './rules/setting-kinds.ts';
export { targetGroup } from './hosts/target-group.ts';
