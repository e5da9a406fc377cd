import type { AnyCheckType } from '@vantage/contract';

import { checkTypes } from './registry.ts';

export {
  classifyAnswer,
  isDnssecError,
  isFilterError,
  isHeldBack,
  isStaleError,
  sameName,
  type AnswerKind,
  type ClassifiedAnswer,
} from '@vantage/contract/dns-message';
export { MAX_LISTED_ADDRESSES, MAX_RESULT_ADDRESSES } from './shared/address-fields.ts';
export { isUndelivered, type IcmpNotice } from './shared/icmp-contract.ts';
export { checkTypes } from './registry.ts';
export { MAX_CA_LENGTH, MAX_KEY_LENGTH, type TlsIdentity, type TlsRules, type TlsVersion } from './tls/rules.ts';
export {
  codings,
  MAX_GRANT_ENTRIES,
  MAX_GRANT_TEXT,
  MAX_MODULE_HEADERS,
  MAX_REQUEST_BODY_BYTES,
  type OAuth2Grant,
  type RequestRules,
} from './types/http/request-rules.ts';
export { MAX_DIALOGUE_STEPS, MAX_SEND_LENGTH, type DialogueRules } from './types/tcp/contract.ts';

export type CheckTypeName = keyof typeof checkTypes;

export const checkTypeNames = Object.keys(checkTypes) as readonly CheckTypeName[];

/** Names of the request fields that check types define, without those that every request has; sorted. */
export const knownRequestFields: readonly string[] = [
  ...new Set(Object.values(checkTypes).flatMap((checkType: AnyCheckType) => Object.keys(checkType.fields as object))),
].toSorted();

export function isCheckTypeName(name: string): name is CheckTypeName {
  return Object.hasOwn(checkTypes, name);
}
