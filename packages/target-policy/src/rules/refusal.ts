/**
 * Every reason for which the policy refuses a well-formed target. The coordinator responds with 403, an agent with
 * `target_refused_by_policy`.
 */
export type RefusalCode =
  | 'address_special'
  | 'address_denied'
  | 'address_own'
  | 'name_special'
  | 'name_denied'
  | 'name_unknown_suffix'
  | 'name_reversed_address'
  | 'port_refused';

export interface Refusal {
  readonly code: RefusalCode;
  /** One sentence, built from canonical text. */
  readonly message: string;
}

export function refusal(code: RefusalCode, message: string): Refusal {
  return { code, message };
}
