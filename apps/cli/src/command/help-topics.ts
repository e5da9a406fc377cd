import type { CheckTypeName } from '@vantage/diagnostics/contract';

/** Commands with help, besides the check types. */
export const helpTopics = ['mtr', 'show', 'compare', 'probes', 'me', 'monitors', 'completion'] as const;

export type HelpTopic = CheckTypeName | (typeof helpTopics)[number];
