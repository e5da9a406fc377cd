import { importRules, type ImportRule } from './import-rules.ts';

export interface Override {
  files: string[];
  excludeFiles: string[];
  rules: { 'no-restricted-imports': ['error', { patterns: { group: string[]; message: string }[] }] };
}

const everywhere = '**/*.ts';

/**
 * The import rules in oxlint's terms. If several overrides match a file, only the last one applies to
 * `no-restricted-imports`, so each zone of files gets all of its rules in one override. Tests may also import the
 * modules that they need to act as a peer.
 */
export const importOverrides: Override[] = zones().map((zone) => ({
  files: [zone],
  excludeFiles: ['**/*.test.ts', '**/test/**'],
  rules: {
    'no-restricted-imports': ['error', { patterns: importRules.filter((rule) => holds(rule, zone)).map(pattern) }],
  },
}));

/** Every pattern of files that some rule names, from the widest to the narrowest. */
function zones(): readonly string[] {
  const named = importRules.flatMap(({ within = [], except = [] }) => [...within, ...except]);
  return [everywhere, ...[...new Set(named)].toSorted((a, b) => depth(a) - depth(b) || a.localeCompare(b))];
}

function depth(zone: string): number {
  const literal = zone.split('*')[0]!;
  return zone.split('/').length + (zone.includes('**') ? 0 : 1) + literal.length / 1_000;
}

function holds(rule: ImportRule, zone: string): boolean {
  const inside = (outer: string): boolean => zone === outer || covers(outer, zone);
  const isWithin = rule.within === undefined || rule.within.some(inside);
  return isWithin && !(rule.except ?? []).some(inside);
}

/** True if every file of `zone` is in `outer`: zones are folders and files, not finer patterns. */
function covers(outer: string, zone: string): boolean {
  if (outer === everywhere) return true;
  const expression = outer
    .split('**')
    .map((part) => part.replaceAll('.', '\\.').replaceAll('*', '[^/]*'))
    .join('.*');
  return new RegExp(`^${expression}$`).test(zone);
}

function pattern(rule: ImportRule): { group: string[]; message: string } {
  return { group: [...rule.modules], message: rule.message };
}
