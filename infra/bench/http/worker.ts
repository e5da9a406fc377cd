import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of this folder in a separate process. */
export interface Worker {
  readonly pid: number;
  /** The line that the program wrote when it was ready. */
  readonly ready: string;
  readonly stop: () => Promise<void>;
}

export async function startWorker(file: string, args: readonly string[]): Promise<Worker> {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=vantage-source', program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  };
  return { pid: child.pid!, ready: line.toString().trim(), stop };
}
