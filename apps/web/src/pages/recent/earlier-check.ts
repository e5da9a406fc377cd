import type { RequestFields } from '../../check/request.ts';
import { nameOfCheck } from '../../check/name.ts';
import type { RecentCheck } from '../../recent.ts';

/** Fields of the request of a recent check, as far as they are known. */
export function requestOfRecent({ request, asked }: RecentCheck): RequestFields {
  const known = request ?? asked;
  return typeof known === 'object' && known !== null ? (known as RequestFields) : {};
}

/**
 * The latest check of the same target, port and record type that was started before this one and can be compared with
 * it; undefined if there is none. The list is in the order of the start or first opening, newest first.
 */
export function earlierOf(check: RecentCheck, checks: readonly RecentCheck[]): RecentCheck | undefined {
  if (check.verdict === 'gone') return undefined;
  const [name, time, place] = [nameIn(check), Date.parse(check.at), checks.indexOf(check)];
  const before = checks.filter((other, index) => {
    if (other.verdict === 'gone' || nameIn(other) !== name) return false;
    const ahead = time - Date.parse(other.at);
    return ahead > 0 || (ahead === 0 && index > place);
  });
  return before.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
}

function nameIn(check: RecentCheck): string {
  const { kind, target } = nameOfCheck(check.type, check.host, requestOfRecent(check));
  return `${kind} ${target}`;
}
