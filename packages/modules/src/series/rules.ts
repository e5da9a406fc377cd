import { RE2JS } from 're2js';

import type { HeaderRule, HttpModule, RecordRules } from '../plan/module.ts';

/** Matches as RE2 does, in a time linear in the length of the text, which is untrusted. */
function matches(regexp: string, text: string): boolean {
  return RE2JS.compile(regexp).test(text);
}

export interface Headers {
  /** Pairs of name and value of the headers that the result has. */
  readonly kept: readonly (readonly string[])[];
  /** True if the response had more headers. */
  readonly areCut: boolean;
}

/** @returns the failing rule as a sentence; undefined if none fails */
export function headerFault(rules: readonly HeaderRule[], headers: Headers): string | undefined {
  for (const rule of rules) {
    const fault = faultOf(rule, headers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf({ header, regexp, failsOnMatch, allowMissing }: HeaderRule, headers: Headers): string | undefined {
  const values = headers.kept.flatMap(([name, value]) =>
    name?.toLowerCase() === header.toLowerCase() && value !== undefined ? [value] : [],
  );
  const found = values.some((value) => matches(regexp, value));
  if (failsOnMatch && found) return `The header ${header} matches ${regexp}.`;
  if (!failsOnMatch && found) return undefined;
  if (headers.areCut) return `The headers are too large to tell whether ${header} matches ${regexp}.`;
  if (values.length === 0) return allowMissing ? undefined : `The header ${header} is missing.`;
  return failsOnMatch ? undefined : `The header ${header} does not match ${regexp}.`;
}

/**
 * @param body its `bodyMatches` are in the order of the module’s rules
 * @returns a sentence that names the failing rule; undefined if none fails
 */
export function bodyFault({ bodyRules }: Pick<HttpModule, 'bodyRules'>, body: Body): string | undefined {
  const { bodyMatches = [], truncated = false } = body;
  for (const [index, { regexp, failsOnMatch }] of bodyRules.entries()) {
    const found = bodyMatches[index] ?? false;
    if (failsOnMatch && found) return `The body matches ${regexp}.`;
    if (!found && truncated) return `The body is too large to tell whether it matches ${regexp}.`;
    if (!failsOnMatch && !found) return `The body does not match ${regexp}.`;
  }
  return undefined;
}

interface Body {
  readonly bodyMatches?: readonly boolean[];
  readonly truncated?: boolean;
}

/**
 * @param records as text: name, TTL, class, type and data, separated by tabs
 * @returns a sentence that names the failing rule; undefined if none fails
 */
export function recordFault(rules: RecordRules, records: readonly string[], section: string): string | undefined {
  const { failIfAnyMatches, failUnlessAllMatch, failIfOneDiffers, failIfNoneMatches } = rules;
  const isEmpty = records.length === 0;
  if (isEmpty && failIfOneDiffers.length + failIfNoneMatches.length > 0) return `The ${section} section is empty.`;
  const offending = failIfAnyMatches.find((regexp) => records.some((record) => matches(regexp, record)));
  if (offending !== undefined) return `A record of the ${section} section matches ${offending}.`;
  const required = [...failUnlessAllMatch, ...failIfOneDiffers];
  const missed = required.find((regexp) => !records.every((record) => matches(regexp, record)));
  if (missed !== undefined) return `A record of the ${section} section does not match ${missed}.`;
  const found = failIfNoneMatches.some((regexp) => records.some((record) => matches(regexp, record)));
  return failIfNoneMatches.length === 0 || found ? undefined : `No record of the ${section} section matches.`;
}
