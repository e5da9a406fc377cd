import type { AgentEnvironment } from '../probes/access/agent-environment.ts';
import { describeEnvironment } from '../probes/access/agent-environment.ts';
import type { NodeOutcome } from '../probes/access/redis-users.ts';
import { adminSettings, type AdminConfig } from './config.ts';

export interface AdminStreams {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/** Result of a command. */
export interface AdminResult {
  /** Messages for people: on standard error, or in the output of `--json`. */
  readonly said: readonly string[];
  readonly warnings: readonly string[];
  /** False if a part failed or nothing was found; the exit code is then 1. */
  readonly done: boolean;
  /** The agent's environment, if it was not written to a file; shown only once. */
  readonly environment?: AgentEnvironment;
  readonly nodes?: readonly NodeOutcome[];
  /** Further fields of the output of `--json`. */
  readonly data?: object;
  readonly lines?: readonly string[];
}

/**
 * Prints why a command failed. A refused connection to the default address of Redis adds advice, because the address
 * may be wrong.
 */
export function showFault(error: unknown, { redisUrl }: Pick<AdminConfig, 'redisUrl'>, { err }: AdminStreams): void {
  const why = Error.isError(error) ? error.message : String(error);
  err(`It could not be done: ${why}`);
  if (redisUrl === adminSettings.redisUrl.default && why.includes('ECONNREFUSED')) {
    err('Set REDIS_URL to the Redis of the service, or give the folder of npm start with --data.');
  }
}

/**
 * Prints a result. Data for programs, such as the environment, goes to standard output, messages for people to standard
 * error; with `json` one object with everything goes to standard output.
 *
 * @returns the exit code
 */
export function showResult(result: AdminResult, json: boolean, { out, err }: AdminStreams): number {
  const { said, warnings, done, environment, nodes, data, lines = [] } = result;
  if (json) {
    const shown = { done, said, ...data, environment: environment ?? null, nodes: nodes ?? [], warnings };
    out(JSON.stringify(shown));
  } else {
    for (const sentence of said) err(sentence);
    for (const { node, fault } of nodes ?? []) if (fault !== null) err(`${node}: ${fault}`);
    for (const warning of warnings) err(`Warning: ${warning}`);
    for (const line of lines) out(line);
    if (environment !== undefined) out(describeEnvironment(environment).trimEnd());
  }
  return done ? 0 : 1;
}
