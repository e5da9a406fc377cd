export { findingRules, type FindingRule } from './rules.ts';
export { summarize, type SummaryFacts } from './summarize.ts';
export type { ProbeFacts } from './probe-result.ts';
