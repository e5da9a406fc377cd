import { SettingsError } from '@vantage/settings';

import { readAdminConfig } from './config.ts';
import { runDoctor } from './doctor/doctor.ts';
import { helpText } from './help.ts';
import { runProbeAdmin } from './commands.ts';
import { isKeyCommand } from './keys/key-arguments.ts';
import { runKeyAdmin } from './keys/key-commands.ts';
import { withRunningService } from './running-service.ts';

const out = (line: string): unknown => process.stdout.write(`${line}\n`);
const err = (line: string): unknown => process.stderr.write(`${line}\n`);

const args = process.argv.slice(2);
const help = helpText(args);
const environment = withRunningService(process.env);
try {
  if (help !== undefined) out(help);
  else if (args[0] === 'doctor') process.exitCode = await runDoctor(args.slice(1), environment, { out, err });
  else {
    const run = isKeyCommand(args[0] ?? '') ? runKeyAdmin : runProbeAdmin;
    process.exitCode = await run(args, readAdminConfig(environment), { out, err });
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  err(error.message);
  process.exitCode = 2;
}
