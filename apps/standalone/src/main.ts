import { fileURLToPath } from 'node:url';

import { openTextOutput } from '@vantage/telemetry';

import { parseArguments, usage } from './arguments.ts';
import { describeStart } from './describe-start.ts';
import { startStandalone } from './standalone.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
/** Repeated signals within this time count as one; a later one exits immediately. */
const SAME_KEY_PRESS_MS = 500;
const STANDARD_OUTPUT = 1;

/** A blocked terminal or pipe must not block the supervisor. */
const output = openTextOutput(STANDARD_OUTPUT);
process.once('exit', output.flushSync);
const print = (text: string): void => output.write(`${text}\n`);

async function main(): Promise<number> {
  const parsed = parseArguments(process.argv.slice(2), `${repository}.vantage`, process.env);
  if (parsed.kind === 'help') {
    print(usage);
    return 0;
  }
  if (parsed.kind === 'invalid') {
    process.stderr.write(`${parsed.faults.join('\n')}\n\n${usage}`);
    return 2;
  }

  const interrupted = new AbortController();
  const asked = new Promise<void>((resolve) => {
    let askedAt: number | undefined;
    const stop = (): void => {
      askedAt ??= performance.now();
      interrupted.abort();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // One Ctrl-C may arrive twice: from the terminal, and forwarded by npm and the setup.
        if (askedAt !== undefined && performance.now() - askedAt > SAME_KEY_PRESS_MS) process.exit(1);
        stop();
      });
    }
    // Emitted only with an IPC channel: the parent process has ended.
    process.once('disconnect', stop);
    process.channel?.unref();
  });
  try {
    const standalone = await startStandalone(parsed.arguments, {
      env: process.env,
      report: (line) => print(`· ${line}`),
      signal: interrupted.signal,
    });
    print(describeStart(standalone.url, standalone.probes, parsed.arguments));
    await asked;
    print('\n· Stopping');
    await standalone.stop();
    return 0;
  } catch (error) {
    if (interrupted.signal.aborted) {
      print('\n· Stopped before the start was complete');
      return 1;
    }
    process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
    return 1;
  }
}

process.exitCode = await main();
