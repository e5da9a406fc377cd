export { findingRules, type FindingRule } from './rules.ts';
export { summarize, type SummaryFacts } from './summarize.ts';
export type { ProbeFacts } from './probe-result.ts';
export { evidenceByProbe, otherFamilyOf } from './evidence.ts';
export type { Evidence } from './partition.ts';
export { partingSentence } from './traceroute/parting/parting.ts';
export { followPath, followWays, MOST_PATH_RUNS, pathChangeSentence, reachedFrom } from './compare/path-changes.ts';
export { compareChecks, type ComparedCheck } from './compare/compare-checks.ts';
export { daysUntil } from './clock.ts';
