export type { Fault } from './file/decode.ts';
export { DEFAULT_MODULES, parseModules, type ModulesParsing } from './parse-modules.ts';
export { describeModule } from './plan/describe-module.ts';
export type { Module, Refusal } from './plan/module.ts';
export type { PlannedModules } from './plan/plan-modules.ts';
export { checkRequest } from './request/check-request.ts';
export { EXPOSITION_TYPE, exposition } from './series/exposition.ts';
export { probeSeries, type ScrapedRun } from './series/probe-series.ts';
export type { AnyResult } from './series/result.ts';
