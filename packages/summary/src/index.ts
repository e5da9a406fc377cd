export { findingRules, type FindingRule } from './rules.ts';
export { summarize, type SummaryFacts } from './summarize.ts';
export type { ProbeFacts } from './probe-result.ts';
export { evidenceByProbe } from './evidence.ts';
export type { Evidence } from './partition.ts';
export { compareChecks, type ComparedCheck } from './compare/compare-checks.ts';
