/**
 * `npm run -s monitors:check FILE`: reads a file of monitors as the coordinators do, with the target policy of this
 * environment (`TARGET_ALLOW` …), and as if `WEBHOOK_SECRET` were set. Each fault of the content is a line
 * `FILE:LINE: …` on stderr; exit status 1.
 */
import { readFileSync } from 'node:fs';

import { checkTypes } from '@vantage/diagnostics/contract';
import { readSettings } from '@vantage/settings';
import { createTargetPolicy, evaluateTarget } from '@vantage/target-policy';

import { settings } from '../config/config.ts';
import { createMonitorReader } from '../http/requests/read-monitor.ts';
import { readMonitorsFile } from '../monitors/file/monitors-file.ts';

const { targetAllow, targetAllowNames, targetDeny } = settings;

const HELP = `monitors:check FILE
    Reads a file of monitors as the coordinators do, and prints each fault with its line.
    Exit status: 0 valid, 1 faults or no such file, 2 wrong arguments.

TARGET_ALLOW, TARGET_ALLOW_NAMES and TARGET_DENY are those of the coordinators: docs/monitors.md.
`;

/** @returns the exit status */
function check(files: readonly string[]): number {
  const [file, ...more] = files;
  if (files.includes('--help') || files.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  if (file === undefined || more.length > 0 || file.startsWith('-')) {
    process.stderr.write(`${argumentFault(files)}\n${HELP}`);
    return 2;
  }
  const config = readSettings({ targetAllow, targetAllowNames, targetDeny }, process.env);
  const policy = createTargetPolicy({
    allow: config.targetAllow,
    allowNames: config.targetAllowNames,
    deny: config.targetDeny,
  });
  const read = createMonitorReader(Object.values(checkTypes), (target) => evaluateTarget(target, policy), true);
  const reading = readMonitorsFile(textOf(file), read);
  if (reading.valid) {
    const { length } = reading.definitions;
    process.stdout.write(`${file}: ${length} monitor${length === 1 ? '' : 's'}\n`);
    return 0;
  }
  for (const { line, message } of reading.faults) process.stderr.write(`${file}:${line}: ${message}\n`);
  return 1;
}

/** @throws Error with the name of the file if it cannot be read */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`FILE "${file}" cannot be read: ${Error.isError(error) ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function argumentFault(files: readonly string[]): string {
  const option = files.find((word) => word.startsWith('-'));
  if (option !== undefined) return `unknown option ${option}; expected one of --help`;
  return files.length === 0 ? 'FILE: is required' : `unexpected argument "${files[1]}"; expected one file`;
}

try {
  process.exitCode = check(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
