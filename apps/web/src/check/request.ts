import { recentChecks } from '../recent.ts';
import type { CheckData } from './use-check.ts';

/** Fields of a request, as far as they are known; `withheld` names those that are not. */
export type RequestFields = Readonly<Record<string, unknown>> & { readonly withheld?: readonly string[] | undefined };

/** Request of a check as this browser sent it; undefined if this browser does not remember it. */
export function sentBy(check: CheckData): RequestFields | undefined {
  return recentChecks().find(({ id }) => id === check.testId)?.request as RequestFields | undefined;
}

/**
 * Request of a check: as this browser sent it, else as the service repeats it, else, of a check that an earlier release
 * stored, the fields that the results repeat.
 */
export function requestOf(check: CheckData): RequestFields {
  return sentBy(check) ?? withoutStream(check.request) ?? repeatedBy(check);
}

/** Fields of `requestOf` that a request may have. */
export function requestFieldsOf(asked: RequestFields): Readonly<Record<string, unknown>> {
  const { withheld: _withheld, ...fields } = asked;
  return fields;
}

/**
 * How a repetition differs from the check because this browser does not know the whole request; undefined if it does
 * not.
 */
export function restrictionOf(check: CheckData): string | undefined {
  if (sentBy(check) !== undefined) return undefined;
  if (check.request === undefined) return 'with default options';
  const { withheld = [] } = check.request;
  return withheld.length === 0 ? undefined : `without its ${withheld.map(withheldText).join(' and ')}`;
}

function withheldText(name: string): string {
  return name === 'rules' ? 'module’s rules' : name;
}

/** Leaves out `endWithStream`: the page itself decides whether a check ends with its stream. */
function withoutStream(request: RequestFields | undefined): RequestFields | undefined {
  if (request === undefined) return undefined;
  const { options, ...fields } = request;
  const { endWithStream: _endWithStream, ...kept } = (options ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(kept).length === 0 ? fields : { ...fields, options: kept };
}

function repeatedBy(check: CheckData): RequestFields {
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
