#!/usr/bin/env node
import { askResolversAgainSoon, SettingsError, withUnknownVariables } from '@vantage/settings';
import { endWithOutput, exitStatus } from '@vantage/command-line';
import { pino } from 'pino';

import { mistypedSettings, readConfig, readMeasuringConfig } from './config/config.ts';
import { enrol } from './enrolment/enrol.ts';
import { openRuntime } from './runtime/open-runtime.ts';
import { runOnce } from './run-once/run-once.ts';
import { serve } from './serve.ts';

const USAGE = `vantage-agent                              takes the jobs of its probe; its settings are in the environment
vantage-agent run TYPE HOST [flags]        runs one check on this machine and shows its result, without Redis
vantage-agent enrol URL TOKEN              enrols this machine with the token of probe:invite; it then starts without it.
                                           With - as TOKEN it is read from standard input
vantage-agent run --help                   lists check types and flags
`;

// Before the first lookup: the C library resolves the names of Redis and of gateways with these options.
askResolversAgainSoon(process.env);
const [command, ...args] = process.argv.slice(2);
if (command === undefined) await serve(settingsOrExit(readConfig), mistypedSettings(process.env));
else if (command === 'run') process.exit(await run());
else if (command === 'enrol' && !args.includes('--help')) {
  const { stdin: input, stdout: output, stderr: errors } = process;
  process.exitCode = await enrol(args, process.env, { input, output, errors });
} else {
  const isHelp = command === 'help' || command === '--help' || command === 'enrol';
  (isHelp ? process.stdout : process.stderr).write(
    isHelp ? USAGE : `unknown command "${command}"; expected run or enrol\n${USAGE}`,
  );
  process.exitCode = isHelp ? 0 : 2;
}

async function run(): Promise<number> {
  const config = settingsOrExit(
    (environment) => readMeasuringConfig({ LOG_LEVEL: 'error', ...environment }),
    exitStatus.invalid,
  );
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  endWithOutput(process);
  const log = pino({ level: config.logLevel }, process.stderr);
  const { stdout: output, stderr: errors } = process;
  const status = await runOnce(args, { config, openRuntime, log, output, errors, signal: interrupted.signal });
  // Flush pending output to pipes before exiting.
  await Promise.all([output, errors].map((stream) => new Promise((resolve) => void stream.write('', resolve))));
  return status;
}

function settingsOrExit<T>(read: (environment: NodeJS.ProcessEnv) => T, status = 1): T {
  try {
    return read(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${withUnknownVariables(error.message, mistypedSettings(process.env))}\n`);
    return process.exit(status);
  }
}
