import { parseArgs } from 'node:util';

import { SettingsError, type UnknownVariable } from '@vantage/settings';

import { mistypedSettings, readConfig, type Config } from '../../config/config.ts';
import { readAdminConfig, type AdminConfig } from '../config.ts';
import { optionFault } from '../option-faults.ts';
import type { AdminStreams } from '../output.ts';
import { checkFiles } from './check-files.ts';
import { examineDeployment } from './examine-deployment.ts';
import { count, error, warning, worstOf, type DoctorFinding } from './finding.ts';

/** Exit codes of Nagios plugins, by the worst finding. */
const EXIT = { ok: 0, warning: 1, error: 2 } as const;
/** Exit code if the arguments or `adminSettings` cannot be used. */
const UNKNOWN = 3;

export const doctorUsage = 'doctor [--data <folder>] [--json]';

/**
 * Finds present and imminent problems of a deployment: Redis and its disk, clocks, certificates, probes and their
 * agents, the public address, the files of the settings. Stores when probes were last seen, and its requests to the
 * service count toward rate limits; changes nothing else.
 *
 * @returns the exit status: 0 nothing found, 1 warnings, 2 errors, 3 the arguments or `adminSettings` cannot be used
 */
export async function runDoctor(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { out, err }: AdminStreams,
): Promise<number> {
  let json: boolean;
  let admin: AdminConfig;
  try {
    json = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } }).values.json === true;
    admin = readAdminConfig(environment);
  } catch (fault) {
    err(fault instanceof SettingsError ? fault.message : optionFault(fault, ['data', 'json']));
    err(`Usage:\n  ${doctorUsage}`);
    return UNKNOWN;
  }
  const findings = await examine(admin, environment);
  const status = worstOf(findings);
  if (json) out(JSON.stringify({ status, findings }));
  else for (const line of linesOf(findings)) out(line);
  return EXIT[status];
}

function linesOf(findings: readonly DoctorFinding[]): readonly string[] {
  const numbers = (['error', 'warning'] as const).map(
    (status) => findings.filter((one) => one.status === status).length,
  );
  const [errors = 0, warnings = 0] = numbers;
  return [
    ...findings.flatMap(({ status, message, remedy }) => [
      `${status.padEnd(7)}  ${message}`,
      ...(remedy === null ? [] : [`         → ${remedy}`]),
    ]),
    '',
    `${count(errors, 'error')}, ${count(warnings, 'warning')}, ${findings.length - errors - warnings} ok.`,
  ];
}

async function examine(
  admin: AdminConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly DoctorFinding[]> {
  const { config, faults } = readCoordinatorConfig(admin, environment);
  const parts = await Promise.all([examineDeployment(admin, config), config === undefined ? [] : checkFiles(config)]);
  return [...faults, ...mistypedSettings(environment).map(unknownVariable), ...parts.flat()];
}

function unknownVariable({ variable, setting }: UnknownVariable): DoctorFinding {
  const message = `${variable} is no setting; ${setting} was probably meant.`;
  return warning('settings', message, 'Correct the name, or unset the variable: it has no effect.');
}

/** Reads the settings of a coordinator in this environment; it would not start if they are invalid. */
function readCoordinatorConfig(
  { redisUrl }: AdminConfig,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly config: Config | undefined; readonly faults: readonly DoctorFinding[] } {
  try {
    return { config: readConfig({ ...environment, REDIS_URL: redisUrl }), faults: [] };
  } catch (fault) {
    if (!(fault instanceof SettingsError)) throw fault;
    const remedy = 'Correct the variable (docs/reference/settings.md): a coordinator with it does not start.';
    return { config: undefined, faults: fault.faults.map((one) => error('settings', `${one}.`, remedy)) };
  }
}
