export { createClient, type Client, type ClientOptions } from './client.ts';
export { ProblemError } from './problem-error.ts';
export type { CheckOf, CheckRequest, CheckRequestOf, ResultOf } from './requests.ts';
export type { CheckEvent, LostConnection, WatchOptions } from './watch.ts';
