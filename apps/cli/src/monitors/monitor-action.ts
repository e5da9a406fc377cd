import type { MonitorRequest } from '@vantage/contract';

/** Commands of `monitors`. */
export const monitorVerbs = ['list', 'show', 'put', 'delete', 'watch'] as const;

/** A command of `monitors` with its arguments. */
export type MonitorAction =
  | { readonly verb: 'list' }
  | { readonly verb: 'show' | 'watch' | 'delete'; readonly name: string }
  | { readonly verb: 'put'; readonly name: string; readonly definition: MonitorDefinitionText };

/** The definition of a monitor: in a file, or in the arguments. The service validates both. */
export type MonitorDefinitionText =
  | { readonly file: string; readonly request?: undefined }
  | { readonly file?: undefined; readonly request: MonitorRequest };
