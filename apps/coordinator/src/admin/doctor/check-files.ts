import { readFile } from 'node:fs/promises';

import { checkTypes } from '@vantage/diagnostics/contract';
import { openGeo } from '@vantage/geo';
import { createTargetPolicy, evaluateTarget } from '@vantage/target-policy';

import type { Config } from '../../config/config.ts';
import { createMonitorReader } from '../../http/requests/read-monitor.ts';
import { refusalText, warningText } from '../../modules/follow-modules.ts';
import { parseWithFiles } from '../../modules/named-files.ts';
import { createQuestionFault } from '../../modules/question-fault.ts';
import { readMonitorsFile } from '../../monitors/file/monitors-file.ts';
import { count, error, ok, reasonOf, warning, type DoctorFinding } from './finding.ts';

const DAY_MS = 86_400_000;
/**
 * Age of geo data in days above which there is a warning, by its origin. Older data puts moved networks in the wrong
 * place.
 */
const OLD_DAYS = { operator: 120, bundled: 365 };

type Files = Pick<
  Config,
  | 'geoCityMmdb'
  | 'geoAsnMmdb'
  | 'geoIspMmdb'
  | 'modulesFile'
  | 'monitorsFile'
  | 'webhookSecrets'
  | 'targetAllow'
  | 'targetAllowNames'
  | 'targetDeny'
>;

/** Checks the geo data, modules and monitors, read from the same files as by a coordinator with these settings. */
export async function checkFiles(config: Files, now = new Date()): Promise<readonly DoctorFinding[]> {
  return [...(await checkGeo(config, now)), ...(await checkModules(config)), ...(await checkMonitors(config))];
}

async function checkGeo(
  { geoCityMmdb: cityMmdb, geoAsnMmdb: asnMmdb, geoIspMmdb: ispMmdb }: Files,
  now: Date,
): Promise<readonly DoctorFinding[]> {
  const ignore = (): void => undefined;
  const geo = await openGeo({ cityMmdb, asnMmdb, ispMmdb, log: { info: ignore, warn: ignore } });
  try {
    return geo
      .sources()
      .filter(({ role }) => role !== 'fallback')
      .map(({ name, origin, state, fault, date }) => {
        const remedy =
          origin === 'operator'
            ? 'Replace the file; it is read again when it changes.'
            : 'Upgrade Vantage, or set GEO_CITY_MMDB and GEO_ASN_MMDB to newer files.';
        if (state !== 'ready') return error('geo', `The geo data ${name} cannot be used: ${fault}.`, remedy);
        if (date === null) return ok('geo', `The geo data ${name} has no date.`);
        const days = Math.floor((now.getTime() - Date.parse(date)) / DAY_MS);
        const message = `The geo data ${name} is of ${date.slice(0, 10)}, ${count(days, 'day')} old.`;
        return days > OLD_DAYS[origin === 'operator' ? 'operator' : 'bundled']
          ? warning('geo', message, remedy)
          : ok('geo', message);
      });
  } finally {
    await geo.close();
  }
}

async function checkModules({
  modulesFile,
  targetAllow,
  targetAllowNames,
  targetDeny,
}: Files): Promise<readonly DoctorFinding[]> {
  if (modulesFile === undefined) return [];
  const remedy =
    'Correct the file: a coordinator with it does not start, and a running one keeps the last valid content.';
  try {
    const policy = createTargetPolicy({ allow: targetAllow, allowNames: targetAllowNames, deny: targetDeny });
    const { parsing } = parseWithFiles(await readFile(modulesFile, 'utf8'), createQuestionFault(policy));
    if (!parsing.ok) {
      return parsing.faults.map(({ line, message }) =>
        error('modules', `${modulesFile} line ${line}: ${withoutPeriod(message)}.`, remedy),
      );
    }
    const refused = [...parsing.refused.values()].flat();
    return [
      ok('modules', `${modulesFile} has ${count(parsing.usable.size, 'module')}.`),
      ...refused.map((refusal) =>
        warning(
          'modules',
          `${modulesFile}: ${refusalText(refusal)}.`,
          'Remove the option, or do not scrape with this module.',
        ),
      ),
      ...parsing.warnings.map((found) =>
        warning('modules', `${modulesFile}: ${warningText(found)}.`, 'Ask about another name, or allow this one.'),
      ),
    ];
  } catch (fault) {
    return [error('modules', `MODULES_FILE cannot be read: ${reasonOf(fault)}.`, remedy)];
  }
}

async function checkMonitors(config: Files): Promise<readonly DoctorFinding[]> {
  const {
    monitorsFile: file,
    targetAllow: allow,
    targetAllowNames: allowNames,
    targetDeny: deny,
    webhookSecrets,
  } = config;
  if (file === undefined) return [];
  const remedy = 'Correct the file (npm run -s monitors:check); until then its last valid content stays in force.';
  try {
    const policy = createTargetPolicy({ allow, allowNames, deny });
    const read = createMonitorReader(
      Object.values(checkTypes),
      (target) => evaluateTarget(target, policy),
      webhookSecrets !== undefined,
    );
    const reading = readMonitorsFile(await readFile(file, 'utf8'), read);
    return reading.valid
      ? [ok('monitors', `${file} has ${count(reading.definitions.length, 'monitor')}.`)]
      : reading.faults.map(({ line, message }) =>
          error('monitors', `${file} line ${line}: ${withoutPeriod(message)}.`, remedy),
        );
  } catch (fault) {
    return [error('monitors', `MONITORS_FILE cannot be read: ${reasonOf(fault)}.`, remedy)];
  }
}

/** Removes the final period: the target policy answers in whole sentences. */
function withoutPeriod(message: string): string {
  return message.replace(/\.$/, '');
}
