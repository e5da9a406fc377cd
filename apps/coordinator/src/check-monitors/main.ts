/**
 * `npm run -s monitors:check FILE`: reads a file of monitors as the coordinators do, with the target policy of this
 * environment (`TARGET_ALLOW` …). Each fault is a line `FILE:LINE: …` on stderr; exit status 1.
 */
import { readFileSync } from 'node:fs';

import { checkTypes } from '@vantage/diagnostics/contract';
import { readSettings } from '@vantage/settings';
import { createTargetPolicy, judgeTarget } from '@vantage/target-policy';

import { settings } from '../config.ts';
import { createMonitorReader } from '../http/requests/read-monitor.ts';
import { readMonitorsFile } from '../monitors/file/monitors-file.ts';

const { targetAllow, targetAllowNames, targetDeny } = settings;

/** @returns the exit status */
function check(files: readonly string[]): number {
  const [file] = files;
  if (file === undefined || files.length > 1 || file.startsWith('-')) {
    const isHelp = file === '--help' || file === '-h';
    (isHelp ? process.stdout : process.stderr).write('usage: npm run -s monitors:check -- FILE\n');
    return isHelp ? 0 : 2;
  }
  const config = readSettings({ targetAllow, targetAllowNames, targetDeny }, process.env);
  const policy = createTargetPolicy({
    allow: config.targetAllow,
    allowNames: config.targetAllowNames,
    deny: config.targetDeny,
  });
  const read = createMonitorReader(Object.values(checkTypes), (target) => judgeTarget(target, policy), true);
  const reading = readMonitorsFile(readFileSync(file, 'utf8'), read);
  if (reading.valid) {
    process.stdout.write(`${file}: ${reading.definitions.length} monitors\n`);
    return 0;
  }
  for (const { line, message } of reading.faults) process.stderr.write(`${file}:${line}: ${message}\n`);
  return 1;
}

try {
  process.exitCode = check(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
