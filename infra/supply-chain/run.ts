import { spawnSync } from 'node:child_process';

/**
 * @returns the standard output of the program
 * @throws Error if it cannot be started, or with the end of its standard error if it does not exit with 0
 */
export function run(program: string, args: readonly string[], cwd?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, cwd });
  if (error !== undefined) throw new Error(`${program}: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed: ${stderr.trim().slice(-500)}`);
  return stdout;
}
