import type { AgentEnvironment } from '../probes/access/agent-environment.ts';
import { describeEnvironment } from '../probes/access/agent-environment.ts';
import type { NodeOutcome } from '../probes/access/redis-users.ts';

export interface AdminStreams {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/** What a command came to. */
export interface AdminResult {
  /** Sentences for a person. */
  readonly said: readonly string[];
  readonly warnings: readonly string[];
  /** False where a part was not done: the exit code is 1 then. */
  readonly done: boolean;
  /** The agent's environment, where it has not been put into a file: shown this once. */
  readonly environment?: AgentEnvironment;
  readonly nodes?: readonly NodeOutcome[];
  /** What `list` shows and more that only `--json` shows. */
  readonly data?: object;
  readonly lines?: readonly string[];
}

/** Standard output has what a program reads, such as the environment file; what a person reads goes to standard error. */
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
