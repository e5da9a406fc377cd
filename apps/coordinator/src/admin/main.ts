import { SettingsError } from '@vantage/settings';

import { readAdminConfig } from './config.ts';
import { runDoctor } from './doctor/doctor.ts';
import { helpText } from './help.ts';
import { runProbeAdmin } from './commands.ts';
import { isKeyCommand } from './keys/key-arguments.ts';
import { runKeyAdmin } from './keys/key-commands.ts';
import { takeDataFolder, withRunningService } from './running-service.ts';

const out = (line: string): unknown => process.stdout.write(`${line}\n`);
const err = (line: string): unknown => process.stderr.write(`${line}\n`);
/** Exit code of a Nagios plugin that states nothing; the doctor is one. */
const UNKNOWN = 3;

/** Ends the program with a reason if its output cannot be written: a full disk, or a pipe that has no reader. */
function endWithOutput(): void {
  // An error of standard error cannot be reported anywhere.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', ({ message }) => {
    err(`standard output: ${message}`);
    if (process.argv[2] === 'doctor') process.exit(UNKNOWN);
    err(
      'What was done stays done. A secret that is lost: probe:rotate, probe:invite or key:rotate prints another one.',
    );
    process.exit(1);
  });
}

/** @returns the exit status */
async function run(given: readonly string[]): Promise<number> {
  const { args, folder } = takeDataFolder(given);
  const [command = ''] = args;
  const help = helpText(args);
  if (help !== undefined) {
    out(help);
    return 0;
  }
  const environment = folder === '' ? undefined : withRunningService(process.env, folder);
  if (environment === undefined) {
    err(folder === '' ? '--data: needs a folder' : `--data: no service of npm start runs on ${folder}`);
    return command === 'doctor' ? UNKNOWN : 2;
  }
  if (command === 'doctor') return runDoctor(args.slice(1), environment, { out, err });
  const runAdmin = isKeyCommand(command) ? runKeyAdmin : runProbeAdmin;
  return runAdmin(args, readAdminConfig(environment), { out, err });
}

endWithOutput();
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  err(error.message);
  process.exitCode = 2;
}
