import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A check for the worker to run; `resolver` is that of the probe, as `address:port`. */
export type LinkCheckRequest = { readonly resolver: string } & (
  | { readonly type: 'http'; readonly url: string; readonly httpVersion: '1.1' | '2' }
  | { readonly type: 'tcp'; readonly address: string; readonly port: number }
  | { readonly type: 'dns'; readonly name: string; readonly transport: 'udp' | 'tcp' | 'tls' | 'https' }
);

/** A check's result and its phases in milliseconds; a phase that it does not have is null or absent. */
export interface CheckResult {
  readonly result: string;
  readonly rt: number | null;
  readonly timings?: Readonly<Record<string, number | null>>;
  readonly error: { readonly message: string } | null;
}

/** A process that runs checks in a namespace, one after another, as long as it lives. */
export interface CheckProcess {
  /** @throws {Error} if the check does not succeed */
  readonly check: (request: LinkCheckRequest) => Promise<CheckResult>;
  readonly stop: () => Promise<void>;
}

export function startChecks(inside: readonly string[], rootFile: string): CheckProcess {
  const program = fileURLToPath(new URL('checks-worker.ts', import.meta.url));
  const [command, ...words] = [...inside, process.execPath, '--conditions=vantage-source', program, rootFile];
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const check: CheckProcess['check'] = async (request) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The process of the checks has ended.');
    const result = JSON.parse(value) as CheckResult;
    if (result.result !== 'success') throw new Error(`A check did not succeed: ${result.error?.message}`);
    return result;
  };
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  };
  return { check, stop };
}
