export { createAdmission, type AdmissionOptions } from './admission.ts';
export { canonicalizeHost, type CanonicalHost, type Canonicalization, type HostKind } from './canonical-host.ts';
export { canonicalizeUrl, type CanonicalUrl } from './canonical-url.ts';
export { classifyAddress, isPrivateAddress, type AddressRule, type AddressVerdict } from './classify.ts';
export { judgeTarget, type TargetJudgement, type TargetRequest } from './judge-target.ts';
export { malformedReasons, type Malformed, type MalformedCode } from './malformed.ts';
export { createNameLookup, type NameLookupOptions } from './name-lookup.ts';
export { judgeName, type NameUse } from './names.ts';
export { discoverNat64Prefixes } from './nat64.ts';
export {
  createOwnAddresses,
  discoverOwnAddresses,
  type DiscoveredAddresses,
  type DiscoveryOptions,
} from './own-addresses.ts';
export type { Endpoint, OwnAddresses } from './own-network.ts';
export { createTargetPolicy, targetPolicyFaults, type TargetPolicy, type TargetPolicyOptions } from './policy.ts';
export { isOwnQuestionPort, isReflectorPort, judgePort, ownQuestionPorts, reflectorPorts } from './ports.ts';
export type { Refusal, RefusalCode } from './refusal.ts';
export { createNameResolver, type AddressAnswer, type NameResolver, type NameResolverOptions } from './resolver.ts';
export { systemResolvers } from './system-resolvers.ts';
export { policyKinds, resolverKind, type SettingKind } from './setting-kinds.ts';
export { targetGroup } from './target-group.ts';
