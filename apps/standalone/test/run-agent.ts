import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

/** Runs a command of the agent to its end. */
export async function runAgent(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly output: string }> {
  const child = spawn(process.execPath, [bundledProgram('probe-agent'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number];
  return { status, output };
}
