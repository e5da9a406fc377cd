import { SettingsError } from '@vantage/settings';

import { readAdminConfig } from './admin-config.ts';
import { helpText } from './admin-help.ts';
import { runProbeAdmin } from './admin.ts';

const out = (line: string): unknown => process.stdout.write(`${line}\n`);
const err = (line: string): unknown => process.stderr.write(`${line}\n`);

const args = process.argv.slice(2);
const help = helpText(args);
try {
  if (help !== undefined) out(help);
  // oxlint-disable-next-line node/no-process-env -- a command of its own, outside of the coordinator and its configuration
  else process.exitCode = await runProbeAdmin(args, readAdminConfig(process.env), { out, err });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  err(error.message);
  process.exitCode = 2;
}
