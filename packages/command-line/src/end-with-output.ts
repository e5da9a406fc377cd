import { exitStatus } from './exit-status.ts';

type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>;

/** Ends the program when its output cannot be written, with an exit status that is not the outcome of a check. */
export function endWithOutput({ stdout, stderr, exit }: Program): void {
  // An error of standard error cannot be reported anywhere, and does not change the exit status.
  stderr.on('error', () => undefined);
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of the pipe may exit early, as head(1) does; Windows calls that EOF.
    if (code === 'EPIPE' || code === 'EOF') exit(exitStatus.outputClosed);
    stderr.write(`standard output: ${message}\n`);
    exit(exitStatus.invalid);
  });
}
