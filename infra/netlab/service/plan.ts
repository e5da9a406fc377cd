/** Address of coordinator and Redis, reached by agents over links that no measured packet takes. */
export const HUB = '10.66.0.1';

/** What the program in the namespace of the service starts. */
export interface WorldPlan {
  readonly probes: readonly string[];
  readonly transport: 'redis' | 'gateway';
  readonly monitorsFile: string;
}

/** One line of its standard input. Each is answered by a line. */
export type WorldRequest =
  | { readonly method?: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: object }
  /** Arguments of an operator’s command, such as `offer fra 203.0.113.5`. */
  | { readonly admin: readonly string[] };
