import { SettingsError } from '@vantage/settings';

import { readAdminConfig } from './config.ts';
import { helpText } from './help.ts';
import { runProbeAdmin } from './commands.ts';
import { isKeyCommand } from './keys/key-arguments.ts';
import { runKeyAdmin } from './keys/key-commands.ts';

const out = (line: string): unknown => process.stdout.write(`${line}\n`);
const err = (line: string): unknown => process.stderr.write(`${line}\n`);

const args = process.argv.slice(2);
const help = helpText(args);
try {
  if (help !== undefined) out(help);
  else {
    const run = isKeyCommand(args[0] ?? '') ? runKeyAdmin : runProbeAdmin;
    process.exitCode = await run(args, readAdminConfig(process.env), { out, err });
  }
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  err(error.message);
  process.exitCode = 2;
}
