import { recentChecks } from '../recent.ts';
import type { CheckData } from './use-check.ts';

/** Fields of a request, as far as they are known. */
export type Asked = Readonly<Record<string, unknown>>;

/** Request of a check, in the browser that sent it. */
export function sentBy(check: CheckData): Asked | undefined {
  return recentChecks().find(({ id }) => id === check.testId)?.request as Asked | undefined;
}

/** Request of a check: known in the browser that sent it; otherwise the fields that the results repeat. */
export function askedOf(check: CheckData): Asked {
  const sent = sentBy(check);
  if (sent !== undefined) return sent;
  const results = Object.values(check.results);
  const named = (field: string): unknown => results.find((result) => result[field] !== undefined)?.[field];
  const protocol = named('protocol');
  const known = {
    port: check.type === 'traceroute' ? undefined : named('port'),
    recordType: named('recordType'),
    options: check.type === 'traceroute' && protocol !== 'icmp' ? { protocol } : undefined,
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}
