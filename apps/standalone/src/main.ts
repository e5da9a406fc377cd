import { fileURLToPath } from 'node:url';

import { parseArguments, usage } from './arguments.ts';
import { describeStart } from './describe-start.ts';
import { startStandalone } from './standalone.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  const parsed = parseArguments(process.argv.slice(2), `${repository}.vantage`);
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
    let times = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        times += 1;
        if (times > 1) process.exit(1);
        interrupted.abort(new Error('Stopped before the start was complete.'));
        resolve();
      });
    }
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
    process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
    return 1;
  }
}

process.exitCode = await main();
