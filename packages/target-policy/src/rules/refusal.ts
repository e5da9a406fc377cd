/**
 * Every ground on which the policy refuses a target whose form is in order. The coordinator answers it with 403, an
 * agent with `target_refused_by_policy`.
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
