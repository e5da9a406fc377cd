import { exitStatus } from './exit-status.ts';

type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>;

/** Ends a program that cannot write its output, with a status that is not that of a check. */
export function endWithOutput({ stdout, stderr, exit }: Program): void {
  // Nothing is left to say, and the exit status stays what it is.
  stderr.on('error', () => undefined);
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of the pipe may exit early, as head(1) does; Windows calls that EOF.
    if (code === 'EPIPE' || code === 'EOF') exit(exitStatus.outputClosed);
    stderr.write(`standard output: ${message}\n`);
    exit(exitStatus.invalid);
  });
}
