import { SettingsError } from '@vantage/settings';

import { readAdminConfig } from './admin-config.ts';
import { runProbeAdmin } from './admin.ts';

const out = (line: string): unknown => process.stdout.write(`${line}\n`);
const err = (line: string): unknown => process.stderr.write(`${line}\n`);

try {
  // oxlint-disable-next-line node/no-process-env -- a command of its own, outside of the coordinator and its configuration
  process.exitCode = await runProbeAdmin(process.argv.slice(2), readAdminConfig(process.env), { out, err });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  err(error.message);
  process.exitCode = 2;
}
