export { createClient, type Client, type ClientOptions } from './client.ts';
export { endingWithStream } from './ending-with-stream.ts';
export { ProblemError } from './problem-error.ts';
export type { CheckOf, CheckRequest, CheckRequestOf, PairRequest, ResultOf } from './types.ts';
export type { CheckEvent, MonitorChange, WatchMonitorOptions, WatchOptions } from './watch.ts';
export type { LostConnection } from './watch-stream.ts';
export { asCsv, asJsonLines, type TableProbe, type ResultRows } from './tables.ts';
export { targetMistake, type TargetFix, type TargetMistake } from './target-mistake.ts';
export { hostFor, portIn, readTarget, type TypedTarget } from './target-text.ts';
