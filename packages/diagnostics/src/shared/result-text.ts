import type { IcmpNotice } from './icmp-contract.ts';

/** Lines about ICMP errors in the text of a check of a port. */
export function portDetails(result: {
  readonly icmp?: IcmpNotice | null;
  readonly icmpUnread?: boolean;
}): readonly string[] {
  const { icmp, icmpUnread } = result;
  return [...listed(icmp, icmpText), ...(icmpUnread === true ? ['this probe cannot read ICMP errors'] : [])];
}

export function icmpText({ type, code, from, private: isPrivate }: IcmpNotice): string {
  const sender = from ?? (isPrivate === true ? 'a private address' : 'an unknown sender');
  return `ICMP type ${type} code ${code} from ${sender}`;
}

export function told<T>(value: T | null | undefined, text: (value: T) => string = String): string | undefined {
  return value === null || value === undefined ? undefined : text(value);
}

export function listed<T>(value: T | null | undefined, text: (value: T) => string): readonly string[] {
  const line = told(value, text);
  return line === undefined ? [] : [line];
}

/** Formats a duration with about three digits, as the web page does; `?` without one. */
export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '?';
  if (value >= 999.5) return `${(value / 1000).toFixed(value >= 9995 ? 1 : 2)} s`;
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ms`;
}

export function count(value: number, word: string): string {
  return `${value} ${word}${value === 1 ? '' : 's'}`;
}
